#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>

namespace gossamer::actors {

/// The bytes under way from a worker to one incarnation of a peer: sent, and neither arrived nor dropped.
///
/// Each frame carries a share of the count, which ends with the last copy of the frame's envelope: where the frame
/// leaves its receiver's mailbox, where a connection forgets it because the other node has it, where a channel forgets
/// it, or where it is dropped for want of a receiver. So no transport reports anything, and none can forget to.
///
/// Threads: one thread asks; shares may end on any.
class under_way {
public:
  /// @param less called once when the first of the true answers of `exceeds` is no longer true: who still has no room
  ///        asks again; runs on the thread that ends the share, so it should only leave a message
  explicit under_way(std::function<void()> less) : less_(std::move(less)) {}

  static std::shared_ptr<const void> share(std::shared_ptr<under_way> of, std::uint64_t bytes) {
    of->bytes_ += bytes;
    return std::make_shared<const part>(std::move(of), bytes);
  }

  std::uint64_t bytes() const noexcept { return bytes_; }
  /// True if more than `most` bytes are under way. If so, `less` will be called.
  bool exceeds(std::uint64_t most) noexcept {
    if (bytes_ <= most)
      return false;
    wake_below_ = std::max(wake_below_.load(), most + 1); // the highest level of several waiters wakes them all
    return bytes_ > most; // a share that has ended meanwhile may not have seen the level
  }

private:
  struct part {
    part(std::shared_ptr<under_way> whole_, std::uint64_t bytes_) noexcept : whole(std::move(whole_)), bytes(bytes_) {}
    part(const part&) = delete;
    part& operator=(const part&) = delete;
    ~part() { whole->end(bytes); }

    std::shared_ptr<under_way> whole;
    std::uint64_t bytes;
  };

  void end(std::uint64_t bytes) {
    const auto left = bytes_.fetch_sub(bytes) - bytes;
    auto level = wake_below_.load();
    while (left < level)
      if (wake_below_.compare_exchange_weak(level, 0))
        return less_();
  }

  std::function<void()> less_;
  std::atomic<std::uint64_t> bytes_{0};
  std::atomic<std::uint64_t> wake_below_{0}; ///< 0: no waiter
};

} // namespace gossamer::actors
