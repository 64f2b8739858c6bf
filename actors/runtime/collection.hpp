#pragma once

#include "gossamer/actors/runtime/worker.hpp"

namespace gossamer::actors {

/// The models of one evaluation, as they come in.
class collection {
public:
  /// @param of the workers that are asked, ascending
  explicit collection(const std::vector<rank>& of = {}) : awaited_(of) {}

  void add(snapshot s) {
    if (forget(s.source))
      snapshots_.push_back(std::move(s));
  }
  /// Nothing will come from this worker. @returns whether something was awaited
  bool forget(rank i) { return std::erase(awaited_, i) != 0; }

  bool complete() const noexcept { return awaited_.empty(); }
  std::vector<snapshot>& snapshots() noexcept { return snapshots_; }

private:
  std::vector<rank> awaited_;
  std::vector<snapshot> snapshots_;
};

} // namespace gossamer::actors
