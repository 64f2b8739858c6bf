#pragma once

#include "gossamer/actors/runtime/frame.hpp"

#include <coroutine>
#include <optional>
#include <vector>

namespace gossamer::actors {

/// Holds the frames that have arrived until a coroutine asks for them, and the coroutines that ask until theirs
/// arrives. A frame that comes early (a neighbour may be a round ahead) simply waits. Threads: actor-confined.
class inbox {
public:
  /// A wait for one frame; what `co_await` is applied to.
  class reception {
  public:
    reception(inbox& box, std::optional<std::pair<rank, tag>> wanted) noexcept : box_(box), wanted_(wanted) {}

    bool await_ready() { return box_.take(*this); }
    void await_suspend(std::coroutine_handle<> waiting) {
      waiting_ = waiting;
      box_.waiting_.push_back(this);
    }
    frame await_resume() noexcept { return std::move(received_); }

  private:
    friend class inbox;
    bool accepts(const frame& f) const noexcept {
      return !wanted_ || (wanted_->first == f.source && wanted_->second == f.label);
    }

    inbox& box_;
    std::optional<std::pair<rank, tag>> wanted_; // nothing: any frame
    std::coroutine_handle<> waiting_;
    frame received_;
  };

  /// The frame with this label from this peer.
  reception receive(rank from, tag label) noexcept { return {*this, std::pair{from, label}}; }
  /// The oldest frame that nobody else waits for.
  reception receive_any() noexcept { return {*this, std::nullopt}; }

  /// Hands a frame to the coroutine that waits for it, which runs at once, or keeps it.
  void deliver(frame f);

  std::size_t unclaimed() const noexcept { return frames_.size(); }

private:
  bool take(reception& r);

  std::vector<frame> frames_;
  std::vector<reception*> waiting_;
};

} // namespace gossamer::actors
