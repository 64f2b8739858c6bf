#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>

namespace gossamer::actors {

// What those use who write to terminals and pipes in such a thread:
inline constexpr std::size_t most_progress_waiting = 16;   ///< records or lines that the next one corrects
inline constexpr std::size_t most_lines_waiting = 10'000;  ///< others: about a megabyte
inline constexpr std::chrono::seconds longest_farewell{5}; ///< for a reader, in the end

/// A thread that does, one after the other, what others do not wait for: writing to terminals, pipes and disks, which
/// may stall for as long as they like. Whoever uses it waits for a mutex, and only in `finish` for anything else.
///
/// A task owns all that it uses: one that never returns is left behind with its thread, which ends with the process.
/// After a task that failed nothing is done any more, and every member but the destructor throws what it has thrown.
///
/// Threads: any may call any member; the last of them destroys it.
class side_thread {
public:
  using task = std::function<void()>;

  /// @error errc::failed when the system has no thread left
  side_thread();
  side_thread(const side_thread&) = delete;
  side_thread& operator=(const side_thread&) = delete;
  /// Does not wait. What has been handed over is still done, unless the process ends before: `finish` first.
  ~side_thread();

  /// Whatever waits already: for what must not be lost.
  void post(task what);
  /// Unless so many wait already: for what may be lost. @returns whether it will be done
  bool offer(task what, std::size_t most_waiting);

  /// Waits until all that was handed over has been done.
  void finish();
  /// The same, but not for longer than that. @returns whether it has been done
  bool finish_within(std::chrono::milliseconds limit);

  /// @throws what a task has thrown, if one has
  void check() const;
  /// How often an offer was not taken.
  std::uint64_t left_out() const;

private:
  struct shared; // with the thread, which may live longer
  static void work(const std::shared_ptr<shared>& state);

  std::shared_ptr<shared> state_;
  std::thread thread_;
};

} // namespace gossamer::actors
