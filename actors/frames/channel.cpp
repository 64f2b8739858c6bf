#include "gossamer/actors/frames/channel.hpp"

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

bool channel::acknowledged(std::uint64_t sequence, time now) {
  if (sequence > sent_)
    return false; // the sender of this acknowledgement is mistaken
  bool progress = false;
  for (; !unacknowledged_.empty() && unacknowledged_.front().f.sequence <= sequence; progress = true) {
    const auto& oldest = unacknowledged_.front();
    if (oldest.f.sequence > held_up_until_) // others tell how long a repair took, and of either copy (Karn)
      measure(now - oldest.sent);
    unacknowledged_.pop_front();
    last_progress_ = now;
  }
  hints_ = progress ? 0 : hints_ + 1;
  if (unacknowledged_.empty() || unacknowledged_.front().repeated)
    return false;
  return progress ? unacknowledged_.front().f.sequence <= repeated_until_ : hints_ == enough_hints;
}

std::optional<channel::time> channel::timeout() const noexcept {
  if (unacknowledged_.empty())
    return std::nullopt;
  return last_progress_ + timeout_;
}

const frame& channel::repeat(time now) {
  timeout_ = std::min(2 * timeout_, std::max(longest_patience, estimate()));
  return repeat_early(now);
}

const frame& channel::repeat_early(time now) {
  GOSSAMER_ASSERT(!unacknowledged_.empty(), "there is something to repeat");
  auto& oldest = unacknowledged_.front();
  oldest.repeated = true;
  held_up_until_ = sent_;
  if (oldest.f.sequence > repeated_until_)
    repeated_until_ = sent_;
  last_progress_ = now;
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
  timeout_ = estimate();
}

channel::time channel::estimate() const noexcept {
  return smoothed_ ? std::clamp(*smoothed_ + 4 * variation_, least_timeout, longest_timeout) : first_timeout;
}

} // namespace gossamer::actors
