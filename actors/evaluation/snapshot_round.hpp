#pragma once

#include "gossamer/actors/protocol/control.hpp"

#include <algorithm>
#include <map>
#include <optional>

namespace gossamer::actors {

/// The models of one evaluation, as they are put aside.
class snapshot_round {
public:
  /// @param awaited true for workers that are asked
  explicit snapshot_round(std::vector<bool> awaited)
      : awaited_(std::move(awaited)), missing_(static_cast<std::size_t>(std::ranges::count(awaited_, true))) {}

  void add(const snapshot_taken& s) {
    if (forget(s.source))
      taken_.push_back(s);
  }
  /// Drops the model of a rank whose node is lost.
  void lose(rank i) {
    forget(i);
    std::erase_if(taken_, [i](const auto& s) { return s.source == i; });
  }
  /// Stops waiting for this worker. @returns true if its model was awaited
  bool forget(rank i) {
    const bool awaited = awaited_[i];
    awaited_[i] = false;
    missing_ -= awaited;
    return awaited;
  }

  bool complete() const noexcept { return missing_ == 0; }
  const std::vector<snapshot_taken>& taken() const noexcept { return taken_; }

private:
  std::vector<bool> awaited_;
  std::size_t missing_;
  std::vector<snapshot_taken> taken_;
};

/// The evaluations that are under way, by number.
///
/// A worker that was started anew, or took another's state, skips one now and then: an evaluation that is older than a
/// complete one will not be complete, and is dropped.
class snapshot_rounds {
public:
  bool empty() const noexcept { return open_.empty(); }
  /// True if the snapshot belongs to an evaluation that has since completed or been dropped.
  bool is_late(const snapshot_taken& s) const noexcept { return s.evaluation < first_open_; }

  /// @param awaited says which workers are asked; called when the evaluation is new
  template <class Awaited>
  snapshot_round& open(std::uint64_t evaluation, Awaited awaited) {
    const auto found = open_.find(evaluation);
    return found != open_.end() ? found->second : open_.emplace(evaluation, snapshot_round{awaited()}).first->second;
  }
  void forget(rank i) {
    for (auto& [evaluation, c] : open_)
      c.forget(i);
  }
  void lose(rank i) {
    for (auto& [evaluation, c] : open_)
      c.lose(i);
  }

  /// Returns the newest evaluation for which no model is missing. Drops older ones.
  std::optional<snapshot_round> take_complete() {
    for (auto c = open_.rbegin(); c != open_.rend(); ++c)
      if (c->second.complete()) {
        std::optional result{std::move(c->second)};
        first_open_ = c->first + 1;
        open_.erase(open_.begin(), c.base());
        return result;
      }
    return std::nullopt;
  }

private:
  std::uint64_t first_open_ = 0;
  std::map<std::uint64_t, snapshot_round> open_;
};

} // namespace gossamer::actors
