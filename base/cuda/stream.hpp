#pragma once

#include "gossamer/base/buffer.hpp"

#include <functional>
#include <memory>
#include <vector>

namespace gossamer::cuda {

class event;

/// Time that one launch of a kernel took on the GPU.
struct kernel_time {
  const char* name;
  double seconds;
};

/// A queue of work for one GPU, done in order: kernels, copies, allocations. A handle; copies share the queue.
///
/// All functions but `wait` return before the work is done. An error of the work itself is found by a later call.
/// Threads: any, several at once; what each of them queues keeps its order.
class stream {
public:
  /// @error errc::usage when there is no such GPU; errc::device when the driver refuses
  explicit stream(int gpu);

  int gpu() const noexcept;
  /// Number of multiprocessors of the GPU, by which launches are sized.
  int multiprocessors() const noexcept;

  /// Returns when all queued work is done.
  /// @error errc::device when some of it went wrong; names the kernels that are suspected
  void wait() const;
  /// Makes work that is queued from now on wait for all work that the other stream has queued so far.
  void follow(const stream& other) const;
  /// Calls f, in a thread of the driver, when all work that is queued so far is done or has failed. f must not wait,
  /// nor throw, nor use this interface.
  void then(std::function<void()> f) const;
  /// Holds host memory until all work that is queued so far is done: for copies from it.
  void keep(buffer memory) const;

  /// The cudaStream_t.
  void* native() const noexcept;
  /// Makes its GPU the present one of the calling thread, which is where kernels are launched.
  void make_present() const;
  /// These two surround each launch of a kernel, so that errors and measurements can name it.
  /// @param name lives for ever
  /// @error errc::device when the launch, or earlier work, went wrong
  void launching() const;
  void launched(const char* name) const;

  /// Starts to note the time of each kernel. For benchmarks only: costs two events a launch.
  void measure() const;
  /// Waits, and returns the times noted since `measure` or the last call.
  std::vector<kernel_time> measured() const;

private:
  struct core;
  std::shared_ptr<core> core_;
};

/// A point in the work of a stream. A handle; copies share the event. Threads: one at a time.
class event {
public:
  explicit event(const stream& s);

  /// The event happens when all work that is queued on the stream so far is done. Requires a stream of the same GPU.
  void record(const stream& s) const;
  /// Returns when the event has happened, at once if it was never recorded.
  void wait() const;
  /// Time on the GPU between two events that have happened.
  double seconds_since(const event& earlier) const;

  /// The cudaEvent_t.
  void* native() const noexcept;

private:
  struct core;
  std::shared_ptr<core> core_;
};

} // namespace gossamer::cuda
