#include "gossamer/actors/run/time_sheet.hpp"

#include <algorithm>

namespace gossamer::actors {

void time_sheet::wait_begins(rank whom, const tag& wanted, time now, time handling) {
  if (waits_.empty()) {
    since_ = now;
    busy_until_then_ = busy_ + handling;
  }
  waits_.push_back({whom, wanted, now});
}

std::optional<time_sheet::time> time_sheet::wait_ends(rank whom, time now) {
  const auto found = std::ranges::find(waits_, whom, &wait::whom);
  if (found == waits_.end())
    return std::nullopt;
  const auto since = found->since;
  waited_[whom] += std::max(now, since) - since;
  waits_.erase(found);
  if (waits_.empty())
    end_of_waiting(now);
  return since;
}

void time_sheet::give_up(time now) {
  if (waits_.empty())
    return;
  waits_.clear();
  end_of_waiting(now);
}

/// Overlapping waits end with the last one. Handlers that ran meanwhile are not counted as waiting.
void time_sheet::end_of_waiting(time now) {
  used_.of(activity::waiting) += std::max(time{0}, now - since_ - (busy_ - busy_until_then_)).count();
}

} // namespace gossamer::actors
