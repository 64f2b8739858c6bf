#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

namespace gossamer::actors {

/// Lets a number of bytes a second pass. Up to a quarter of a second's bytes are saved up, and may pass at once. It has
/// no clock: its owner tells the time, from any fixed moment, and it never goes back. Threads: as a value.
class token_bucket {
public:
  using time = std::chrono::nanoseconds;

  /// @param bytes_per_second infinite: no limit
  /// @param least            least capacity of the bucket: the most that is ever taken at once
  token_bucket(double bytes_per_second, double least)
      : rate_(bytes_per_second), most_(std::max(least, bytes_per_second / 4)), saved_(most_) {}

  /// Takes this many bytes if they may pass now. @returns whether they may
  bool take(double bytes, time now) {
    if (std::isinf(rate_))
      return true;
    fill(now);
    if (saved_ < bytes)
      return false;
    saved_ -= bytes;
    return true;
  }
  /// The time from which this many may pass, if none are taken before.
  time ready_at(double bytes, time now) {
    fill(now);
    const auto wait = std::ceil(1e9 * std::max(0.0, bytes - saved_) / rate_);
    return now + time{static_cast<time::rep>(std::min(wait, 1e18))};
  }

private:
  void fill(time now) {
    saved_ = std::min(most_, saved_ + rate_ * std::chrono::duration<double>{now - last_}.count());
    last_ = now;
  }

  double rate_, most_, saved_;
  time last_{0};
};

} // namespace gossamer::actors
