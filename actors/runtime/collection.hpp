#pragma once

#include "gossamer/actors/runtime/worker.hpp"

namespace gossamer::actors {

/// The models of one evaluation, as they come in.
class collection {
public:
  /// @param awaited which workers are asked
  explicit collection(std::vector<bool> awaited)
      : awaited_(std::move(awaited)), missing_(static_cast<std::size_t>(std::ranges::count(awaited_, true))) {}

  void add(snapshot s) {
    if (forget(s.source))
      snapshots_.push_back(std::move(s));
  }
  /// Nothing will come from this worker. @returns whether something was awaited
  bool forget(rank i) {
    const bool awaited = awaited_[i];
    awaited_[i] = false;
    missing_ -= awaited;
    return awaited;
  }

  bool complete() const noexcept { return missing_ == 0; }
  /// In the order of the workers, so that their mean does not depend on who was first.
  std::vector<snapshot> take() {
    std::ranges::sort(snapshots_, {}, &snapshot::source);
    return std::move(snapshots_);
  }

private:
  std::vector<bool> awaited_;
  std::size_t missing_;
  std::vector<snapshot> snapshots_;
};

} // namespace gossamer::actors
