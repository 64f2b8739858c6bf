#pragma once

#include "gossamer/actors/frames/frame.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace gossamer::actors {

/// Where a consistent cut through an asynchronous run passes one worker, while nobody stops.
///
/// Whoever has saved its state tells its peers before it sends them anything else: a marker. Who hears that saves its
/// own state before it handles what this peer sends next. So nothing that somebody did after the cut is in a state from
/// before it. Chandy, Lamport: Distributed snapshots, ACM TOCS 1985.
///
/// We differ in what is under way across the cut, which they record with the state of the receiver. Here it is dropped:
/// a question will be asked again. Where two halves must be done both or not at all (`exchange`), one who has asked
/// saves only when its half is done, if its peer had answered before the peer's own cut, and otherwise at once; which
/// of the two it is shows in whether the answer or the marker comes first, since frames of a pair stay in order.
/// Frames of peers that are past the cut wait meanwhile; answers do not wait for anybody, so this ends.
///
/// A value; threads: as the worker that it is part of.
class cut {
public:
  /// The leader wants a checkpoint of this number.
  void order(std::uint64_t number) { due_ = std::max(due_, number); }
  /// This peer is past the cut.
  void marker(rank from, std::uint64_t number) {
    if (number <= last_)
      return;
    order(number);
    past_.insert(from);
    hurried_ |= asked_ == from; // its answer will be one from behind the cut
  }
  /// Whether the state is to be saved now.
  bool is_due() const noexcept { return due_ > last_ && (!in_exchange_ || hurried_); }
  std::uint64_t due() const noexcept { return due_; }
  /// It has been. @returns the frames that have waited for it
  std::vector<frame> saved() {
    last_ = due_;
    past_.clear();
    hurried_ = false;
    return std::exchange(kept_, {});
  }

  /// Whether this frame has to wait; then it is taken.
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
  std::optional<rank> asked_; ///< who has not answered yet
  std::set<rank> past_;       ///< while this worker is not
  std::vector<frame> kept_;
};

} // namespace gossamer::actors
