#pragma once

#include "gossamer/actors/frames/frame.hpp"
#include "gossamer/actors/telemetry/time_use.hpp"

#include <chrono>
#include <map>
#include <optional>
#include <vector>

namespace gossamer::actors {

/// The activities of one worker, and its waits for others, as they begin and end. Moments are counted from any one
/// moment on. Threads: one at a time.
class time_sheet {
public:
  using time = std::chrono::nanoseconds;
  struct wait {
    rank whom;
    tag wanted;
    time since;
  };

  /// Adds the time of a gradient, or of a part of one, which passes beside the rest.
  void computes(time spent) {
    gradients_ += spent;
    used_.of(activity::computing) += spent.count();
  }
  /// Adds time of a handler.
  void works(activity what, time spent) {
    busy_ += spent;
    used_.of(what) += spent.count();
  }
  /// @param handling time of the present handler so far, which `works` will add
  void wait_begins(rank whom, const tag& wanted, time now, time handling);
  /// @returns since when it has waited; absent if it has not
  std::optional<time> wait_ends(rank whom, time now);
  /// Ends all waits; they count as waiting, and nobody is blamed.
  void give_up(time now);

  const time_use& used() const noexcept { return used_; }
  /// Time of its gradients alone.
  time gradients() const noexcept { return gradients_; }
  /// Those under way, the oldest first.
  const std::vector<wait>& waits() const noexcept { return waits_; }
  /// Time of the waits that are over, by the awaited worker. Overlapping waits count each.
  const std::map<rank, time>& waited() const noexcept { return waited_; }

private:
  void end_of_waiting(time now);

  time_use used_;
  time gradients_{0}, busy_{0};
  time since_{0}, busy_until_then_{0}; // when the first of the overlapping waits began
  std::vector<wait> waits_;
  std::map<rank, time> waited_;
};

} // namespace gossamer::actors
