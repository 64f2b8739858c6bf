#pragma once

#include "gossamer/actors/frames/frame.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace gossamer::actors {

/// The place of one worker in a consistent cut through an asynchronous run that does not stop.
///
/// A worker that has saved its state sends a peer a marker before anything else. A peer that receives the marker saves
/// its own state before it handles later frames of that worker. So no saved state contains the effect of an action
/// after the cut. Chandy, Lamport: Distributed snapshots, ACM TOCS 1985. The paper's channels stay; here views change
/// neighbours, and a question may come from one of a former view: its answer goes behind a marker, too.
///
/// The paper records the frames under way across the cut with the state of the receiver. Here they are dropped: a
/// question is asked again. An `exchange` has two halves that must be saved both or not at all. A worker that has asked
/// saves after its own half if its peer answered before the peer's cut, and need not wait otherwise. The order of
/// answer and marker shows which case it is, since frames of a pair stay in order. Several exchanges may be open; the
/// worker saves when none of them makes it wait, and begins no other before. Frames of peers past the cut wait
/// meanwhile; answers wait for no worker, so this ends.
///
/// A master's next life goes on from the effects of questions whose answers may have been lost with the former one, and
/// its marker would come before those that it gives again. So its first cut goes through once it has heard each worker:
/// a question that is asked again, or the marker of a worker that has none open.
///
/// The leader gives a checkpoint up that a lost worker will not save, and orders one of a higher number. A worker that
/// waits still leaves out the former: no cut goes through there any more, and peers past it are before the later one.
/// Their frames wait no longer, and an answer among them is from before their cut. So a marker says where its sender is
/// only if it has the number that is due.
///
/// A value. Threads: as the worker that it is part of.
class cut {
public:
  /// Notes that the leader wants a checkpoint of this number, and no earlier one any more.
  /// @returns the frames that have waited for an earlier one: they come before this cut
  [[nodiscard]] std::vector<frame> order(std::uint64_t number) {
    if (number <= due_)
      return {};
    due_ = number;
    past_.clear();
    return std::exchange(kept_, {});
  }
  /// Notes that this peer is past the cut of this number. Answers of the peer that are still to come are from behind
  /// it. Call it when the cut has been ordered, and the frames that this returned are handed in.
  void marker(rank from, std::uint64_t number) {
    if (!is_ordered() || number != due_)
      return;
    past_.insert(from);
    unheard_.erase(from);
  }
  /// Begins a master's next life: these workers may ask a question again.
  void expect_word_of(std::set<rank> workers) { unheard_ = std::move(workers); }
  /// Notes that this worker has asked. Call it before the question is acted on, whose answer then comes before the cut.
  void hear(rank worker) { unheard_.erase(worker); }
  /// Notes that a life of this peer is over. It will not ask again, and the next one begins behind the last cut.
  void forget(rank peer) {
    unheard_.erase(peer);
    told_.insert(peer);
  }
  /// True if the state is to be saved: now, or when the open exchanges allow it. Meanwhile no exchange may begin.
  bool is_ordered() const noexcept { return due_ > last_; }
  /// True if the state is to be saved now.
  bool is_due() const {
    return is_ordered() && unheard_.empty() && std::ranges::all_of(open_, [this](const auto& one) {
             return !one.second && past_.contains(one.first.with);
           });
  }
  std::uint64_t due() const noexcept { return due_; }
  /// Notes that the state has been saved. @returns the frames that have waited for it
  [[nodiscard]] std::vector<frame> saved() {
    last_ = due_;
    past_.clear();
    told_.clear();
    return std::exchange(kept_, {});
  }

  /// Returns the number of the last cut if this peer must hear of it before anything else, and counts it as told.
  std::optional<std::uint64_t> news_for(rank peer) {
    return last_ != 0 && told_.insert(peer).second ? std::optional{last_} : std::nullopt;
  }

  /// Takes a frame that has to wait. @returns whether it has to
  bool keeps(frame& f) {
    if (!is_ordered() || !past_.contains(f.source))
      return false;
    kept_.push_back(std::move(f));
    return true;
  }

  // -- exchanges that this worker has asked for, any number at a time
  struct exchange {
    rank with = 0;
    std::uint64_t number = 0; ///< among this worker's exchanges

    friend auto operator<=>(const exchange&, const exchange&) = default;
  };
  void begin(const exchange& e) { open_.emplace(e, false); }
  /// Notes that the answer has come, but its half may not have been done.
  void answered(const exchange& e) {
    if (const auto found = open_.find(e); found != open_.end())
      found->second = true;
  }
  void end(const exchange& e) { open_.erase(e); }

private:
  std::uint64_t last_ = 0, due_ = 0;
  std::map<exchange, bool> open_; ///< whether the answer has come
  std::set<rank> unheard_;        ///< workers that may ask a question of a master's former life again
  std::set<rank> past_;           ///< peers past the cut that is due, while this worker is not
  std::set<rank> told_;           ///< peers that have the marker of the last cut, or began after it
  std::vector<frame> kept_;
};

} // namespace gossamer::actors
