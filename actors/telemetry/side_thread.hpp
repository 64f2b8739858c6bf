#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>

namespace gossamer::actors {

// Limits for users that write to terminals and pipes in such a thread:
inline constexpr std::size_t most_progress_waiting = 16;   ///< records or lines that the next one corrects
inline constexpr std::size_t most_lines_waiting = 10'000;  ///< other lines: about a megabyte
inline constexpr std::chrono::seconds longest_farewell{5}; ///< wait for a reader at the end

/// A thread for work that its users do not wait for, one task after the other: writing to terminals, pipes and disks,
/// which may stall for long. A user waits for a mutex only, except in `finish`.
///
/// A task owns all its data: a task that never returns is left behind with its thread, which ends with the process.
/// After a task that failed no further task runs, and every member but the destructor throws its exception.
///
/// Threads: any may call any member; the last of them destroys it.
class side_thread {
public:
  using task = std::function<void()>;

  /// @error errc::failed if the system has no thread left
  side_thread();
  side_thread(const side_thread&) = delete;
  side_thread& operator=(const side_thread&) = delete;
  /// Does not wait. Tasks that were handed over still run, unless the process ends before: call `finish` first.
  ~side_thread();

  /// Adds a task however many wait: for tasks that must not be lost.
  void post(task what);
  /// Adds a task unless `most_waiting` wait already: for tasks that may be lost. @returns whether it was added
  bool offer(task what, std::size_t most_waiting);

  /// Waits until all tasks are done.
  void finish();
  /// Waits until all tasks are done, or the time is over. @returns whether they are done
  bool finish_within(std::chrono::milliseconds limit);

  /// @throws the exception of a task, if one has failed
  void check() const;
  /// Number of offers that were not taken.
  std::uint64_t left_out() const;

private:
  struct shared; // shared with the thread, which may live longer
  static void work(const std::shared_ptr<shared>& state);

  std::shared_ptr<shared> state_;
  std::thread thread_;
};

} // namespace gossamer::actors
