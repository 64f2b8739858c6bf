#pragma once

#include "gossamer/base/buffer.hpp"
#include "gossamer/base/philox.hpp"

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace gossamer::test {

/// A device that does its work late and in a random order. Each stream keeps its own order and waits for the streams
/// that it follows. Code that is right on it does not rely on a quick or slow GPU.
class late_device : public std::enable_shared_from_this<late_device> {
public:
  class stream;

  static std::shared_ptr<late_device> make(std::uint64_t seed) {
    return std::shared_ptr<late_device>(new late_device(seed));
  }
  ~late_device() {
    for (auto& s : streams_)
      drain(*s);
  }

  std::shared_ptr<stream> make_stream();

private:
  struct queue;
  struct operation {
    std::function<void()> run;
    queue* awaited = nullptr; ///< waits until this queue has done `until` operations
    std::uint64_t until = 0;
  };
  struct queue {
    std::deque<operation> operations;
    std::uint64_t queued = 0, done = 0;
  };

  explicit late_device(std::uint64_t seed) : random_({seed, 0, purpose::interleaving}, 0) {}

  void add(queue& to, operation next) {
    const std::lock_guard lock{mutex_};
    to.operations.push_back(std::move(next));
    ++to.queued;
    for (auto n = random_.below(4); n > 0; --n)
      run_one(*streams_[random_.below(static_cast<std::uint32_t>(streams_.size()))]);
  }

  static bool run_one(queue& q) {
    if (q.operations.empty())
      return false;
    const auto& next = q.operations.front();
    if (next.awaited != nullptr && next.awaited->done < next.until)
      return false;
    if (next.run)
      next.run();
    q.operations.pop_front();
    ++q.done;
    return true;
  }

  static void drain(queue& q, std::uint64_t until = ~std::uint64_t{0}) {
    while (!q.operations.empty() && q.done < until)
      if (!run_one(q))
        drain(*q.operations.front().awaited, q.operations.front().until);
  }

  std::mutex mutex_;
  random_sequence random_;
  std::vector<std::unique_ptr<queue>> streams_;
};

/// A queue of work for that device. Copies of its handle share it. Queued work is done even if all handles are gone.
class late_device::stream {
public:
  stream(std::shared_ptr<late_device> device, queue& q) : device_(std::move(device)), queue_(q) {}

  void add(std::function<void()> work) { device_->add(queue_, {.run = std::move(work)}); }
  void follow(const stream& other) {
    if (&other != this)
      device_->add(queue_, {.run = {}, .awaited = &other.queue_, .until = other.queue_.queued});
  }
  void wait() {
    const std::lock_guard lock{device_->mutex_};
    drain(queue_);
  }
  std::shared_ptr<stream> beside() const { return device_->make_stream(); }

private:
  std::shared_ptr<late_device> device_;
  queue& queue_;
};

inline std::shared_ptr<late_device::stream> late_device::make_stream() {
  const std::lock_guard lock{mutex_};
  streams_.push_back(std::make_unique<queue>());
  return std::make_shared<stream>(shared_from_this(), *streams_.back());
}

/// Memory like page-locked memory: a late device reads it when the copy's turn comes. It reads all other memory at
/// once, as CUDA does.
class locked_memory {
public:
  static memory_source source() { return {.allocate = allocate, .release = release}; }
  static bool holds(const void* p);

private:
  static void* allocate(std::size_t bytes);
  static void release(void* memory) noexcept;
};

} // namespace gossamer::test
