#pragma once

#include "gossamer/actors/worker/witness.hpp"

#include <algorithm>
#include <coroutine>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace gossamer::actors {

/// Holds frames that have arrived until a coroutine asks for them, and coroutines that ask until their frame arrives,
/// or will never arrive. A frame that comes early (a neighbour may be a round ahead) waits.
/// Threads: actor-confined.
class inbox {
public:
  /// A wait for one frame.
  class reception {
  public:
    /// @param from absent: any sender
    reception(inbox& box, std::optional<rank> from, tag label, bool hopeless) noexcept
        : box_(box), from_(from), label_(label), hopeless_(hopeless) {}
    reception(const reception&) = delete;
    reception& operator=(const reception&) = delete;
    /// A coroutine may be destroyed while it waits: by an exception of another one that waited beside it.
    ~reception() {
      if (waiting_)
        box_.drop(*this);
    }

    bool await_ready() { return ((!box_.held_ || hopeless_) && box_.take(*this)) || hopeless_; }
    void await_suspend(std::coroutine_handle<> waiting);
    /// `nullopt` if the frame will not come.
    std::optional<frame> await_resume() noexcept { return std::move(received_); }

    std::optional<rank> from() const noexcept { return from_; }
    const tag& label() const noexcept { return label_; }

  private:
    friend class inbox;
    bool accepts(const frame& f) const noexcept {
      if (!from_)
        return f.label.kind == label_.kind;
      auto wanted = label_;
      if (wanted.part == any_part)
        wanted.part = f.label.part;
      return f.source == *from_ && f.label == wanted;
    }

    inbox& box_;
    std::optional<rank> from_;
    tag label_;
    bool hopeless_;
    std::coroutine_handle<> waiting_; // null: it does not wait
    std::optional<frame> received_;
  };

  /// A wait for a frame of one kind from any sender. It always ends with a frame.
  struct any_reception : reception {
    using reception::reception;
    frame await_resume() noexcept { return *reception::await_resume(); }
  };

  /// @param heard told of waits; may be null
  explicit inbox(rank owner = 0, witness* heard = nullptr) noexcept : owner_(owner), witness_(heard) {}

  /// Awaits the frame with this label from this peer.
  /// @param hopeless the frame will not come, unless it is there already
  reception receive(rank from, tag label, bool hopeless = false) noexcept { return {*this, from, label, hopeless}; }
  /// Awaits the oldest frame of this kind that no other wait claims.
  any_reception receive_any(frame_kind kind) noexcept { return {*this, std::nullopt, tag{kind}, false}; }

  /// True if a coroutine waits for this frame in particular.
  bool awaits(const frame& f) const {
    return std::ranges::any_of(waiting_, [&](const reception* r) { return r->from_ && r->accepts(f); });
  }
  /// Hands a frame to the coroutine that waits for it, which runs at once, or else keeps it.
  void deliver(frame f);

  /// Keeps all frames from now on. Only a hopeless wait still gets a frame that is already there.
  void hold() noexcept { held_ = true; }
  /// Hands out the frames that have come since `hold`.
  void thaw();

  /// Ends the waits that have become hopeless: their coroutines run at once and get nothing. The exception is a frame
  /// that came while the inbox was held.
  void give_up(const std::function<bool(const reception&)>& hopeless);
  /// Drops frames that no coroutine will ask for.
  void discard(const std::function<bool(const frame&)>& stale) { std::erase_if(frames_, stale); }
  /// Drops the waits of coroutines that are about to be destroyed.
  void forget_waits();

  /// The waits of all coroutines, in the order in which they began.
  std::span<const reception* const> waits() const noexcept { return waiting_; }
  std::size_t unclaimed() const noexcept { return frames_.size(); }

private:
  bool take(reception& r);
  void resume(reception& r);
  void drop(reception& r);

  rank owner_;
  witness* witness_;
  bool held_ = false;
  std::vector<frame> frames_;
  std::vector<reception*> waiting_;
};

} // namespace gossamer::actors
