#pragma once

#include <chrono>
#include <cmath>

namespace gossamer::actors {

/// Time since the start of a simulated run. An integer, so that sums do not depend on their order and a run repeats
/// exactly.
using virtual_time = std::chrono::nanoseconds;

/// 292 years: "never". Sums end here instead of wrapping around.
inline constexpr virtual_time end_of_time = virtual_time::max();

/// The nearest whole nanosecond. Requires seconds >= 0; infinity is the end of time.
inline virtual_time from_seconds(double seconds) noexcept {
  const double nanoseconds = 1e9 * seconds;
  return nanoseconds < 0x1p63 ? virtual_time{std::llround(nanoseconds)} : end_of_time;
}

constexpr double to_seconds(virtual_time t) noexcept { return std::chrono::duration<double>{t}.count(); }

/// t + duration. Requires both to be >= 0.
constexpr virtual_time later(virtual_time t, virtual_time duration) noexcept {
  return t <= end_of_time - duration ? t + duration : end_of_time;
}

} // namespace gossamer::actors
