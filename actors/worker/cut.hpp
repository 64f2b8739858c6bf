#pragma once

#include "gossamer/actors/frames/frame.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace gossamer::actors {

/// The place of one worker in a consistent cut through an asynchronous run that does not stop.
///
/// A worker that has saved its state sends its peers a marker before anything else. A peer that receives the marker
/// saves its own state before it handles later frames of that worker. So no saved state contains the effect of an
/// action after the cut. Chandy, Lamport: Distributed snapshots, ACM TOCS 1985.
///
/// The paper records the frames under way across the cut with the state of the receiver. Here they are dropped: a
/// question is asked again. An `exchange` has two halves that must be saved both or not at all. A worker that has asked
/// saves after its own half if its peer answered before the peer's cut, and otherwise at once. The order of answer and
/// marker shows which case it is, since frames of a pair stay in order. Frames of peers past the cut wait meanwhile;
/// answers wait for no worker, so this ends.
///
/// A value. Threads: as the worker that it is part of.
class cut {
public:
  /// Notes that the leader wants a checkpoint of this number.
  void order(std::uint64_t number) { due_ = std::max(due_, number); }
  /// Notes that this peer is past the cut.
  void marker(rank from, std::uint64_t number) {
    if (number <= last_)
      return;
    order(number);
    past_.insert(from);
    hurried_ |= asked_ == from; // the peer's answer will be from behind the cut
  }
  /// True if the state is to be saved now.
  bool is_due() const noexcept { return due_ > last_ && (!in_exchange_ || hurried_); }
  std::uint64_t due() const noexcept { return due_; }
  /// Notes that the state has been saved. @returns the frames that have waited for it
  std::vector<frame> saved() {
    last_ = due_;
    past_.clear();
    hurried_ = false;
    return std::exchange(kept_, {});
  }

  /// Takes a frame that has to wait. @returns whether it has to
  bool keeps(frame& f) {
    if (due_ == last_ || !past_.contains(f.source))
      return false;
    kept_.push_back(std::move(f));
    return true;
  }

  // -- exchanges, one at a time
  void begin_exchange(rank with) {
    in_exchange_ = true;
    asked_ = with;
  }
  void answered_by(rank whom) noexcept {
    if (asked_ == whom)
      asked_.reset();
  }
  bool in_exchange() const noexcept { return in_exchange_; }
  void end_exchange() noexcept {
    in_exchange_ = false;
    asked_.reset();
  }

private:
  std::uint64_t last_ = 0, due_ = 0;
  bool in_exchange_ = false;
  bool hurried_ = false;      ///< by the peer that was asked
  std::optional<rank> asked_; ///< peer that has not answered yet
  std::set<rank> past_;       ///< peers past the cut, while this worker is not
  std::vector<frame> kept_;
};

} // namespace gossamer::actors
