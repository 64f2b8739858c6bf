#include "gossamer/actors/runtime/channel.hpp"

#include "gossamer/base/error.hpp"

#include <algorithm>

namespace gossamer::actors {

void channel::number(frame& f, time now, bool keep) {
  f.sequence = ++sent_;
  if (!keep)
    return;
  if (unacknowledged_.empty())
    last_progress_ = now;
  unacknowledged_.push_back({f, now});
}

void channel::acknowledged(std::uint64_t sequence, time now) {
  if (sequence > sent_)
    return; // whoever says so is mistaken
  while (!unacknowledged_.empty() && unacknowledged_.front().f.sequence <= sequence) {
    const auto& oldest = unacknowledged_.front();
    if (!oldest.repeated) // of a repeated one nobody knows which copy is answered (Karn)
      measure(now - oldest.sent);
    unacknowledged_.pop_front();
    last_progress_ = now;
  }
}

std::optional<channel::time> channel::timeout() const noexcept {
  if (unacknowledged_.empty())
    return std::nullopt;
  return last_progress_ + timeout_;
}

const frame& channel::repeat(time now) {
  GOSSAMER_ASSERT(!unacknowledged_.empty(), "there is something to repeat");
  auto& oldest = unacknowledged_.front();
  oldest.repeated = true;
  last_progress_ = now;
  timeout_ = std::min(2 * timeout_, longest_timeout);
  return oldest.f;
}

void channel::measure(time round_trip) {
  if (!smoothed_) {
    smoothed_ = round_trip;
    variation_ = round_trip / 2;
  } else {
    const auto off = *smoothed_ > round_trip ? *smoothed_ - round_trip : round_trip - *smoothed_;
    variation_ = (3 * variation_ + off) / 4;
    smoothed_ = (7 * *smoothed_ + round_trip) / 8;
  }
  timeout_ = std::clamp(*smoothed_ + 4 * variation_, least_timeout, longest_timeout);
}

} // namespace gossamer::actors
