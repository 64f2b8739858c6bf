#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>

namespace gossamer::actors {

/// How many bytes are under way from a worker to one life of a peer: sent, and neither arrived nor dropped.
///
/// Each frame carries a share of the count, which ends with the last copy of the frame's envelope: where the frame is
/// taken out of its receiver's mailbox, where a connection forgets it because the other node has it, where a channel
/// does, or where it is dropped because nobody is there to receive it. So no transport reports anything, and none can
/// forget to.
///
/// Threads: one asks; shares may end on any.
class under_way {
public:
  /// @param less is called when what `exceeds` has said is no longer true, once for each time that it said so or less
  ///        often; on the thread that ends the share, so it leaves a message
  explicit under_way(std::function<void()> less) : less_(std::move(less)) {}

  static std::shared_ptr<const void> share(std::shared_ptr<under_way> of, std::uint64_t bytes) {
    of->bytes_ += bytes;
    return std::make_shared<const part>(std::move(of), bytes);
  }

  std::uint64_t bytes() const noexcept { return bytes_; }
  /// Whether more than that is under way. If so, `less` will be called.
  bool exceeds(std::uint64_t most) noexcept {
    if (bytes_ <= most)
      return false;
    wake_below_ = std::max(wake_below_.load(), most + 1); // of several who wait, the first to be content wakes all
    return bytes_ > most;                                 // a share that has ended meanwhile may not have seen it
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
  std::atomic<std::uint64_t> wake_below_{0}; ///< 0: nobody waits
};

} // namespace gossamer::actors
