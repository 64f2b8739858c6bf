#pragma once

#include "gossamer/actors/data_plane/detail/patience.hpp"
#include "gossamer/actors/data_plane/detail/sockets.hpp"

#include <algorithm>
#include <chrono>
#include <optional>

namespace gossamer::actors::detail {

/// How long the other machine has answered nothing to what was sent again. It is looked at every now and then: that a
/// connection was idle before, and its last answer is old, says nothing. TCP alone may need as long as a network was
/// cut off to find that it is back, since it doubles its pauses. A value, without a clock.
class silence {
public:
  using time = std::chrono::steady_clock::time_point;

  /// Takes in what the system says now.
  /// @returns whether nothing was answered for two seconds, or four round trips if they take longer
  bool is_over_with(const unanswered& found, time now) {
    if (found.repeats == 0) {
      since_.reset();
      return false;
    }
    since_ = std::max(since_.value_or(now), now - found.last_answer);
    return now - *since_ > std::max<time::duration>(least_silence, 4 * found.round_trip);
  }

private:
  std::optional<time> since_; ///< set while data wait that were sent again
};

} // namespace gossamer::actors::detail
