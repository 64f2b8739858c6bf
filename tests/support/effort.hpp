#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace gossamer::test {

/// Returns how many random plans, schedules or seeds a test tries: GOSSAMER_TEST_EFFORT percent of its usual number,
/// 100 percent without that variable, and at least one. Less is for builds that take ten times as long, more is for a
/// night.
inline std::uint64_t tries(std::uint64_t usual) {
  const char* percent = std::getenv("GOSSAMER_TEST_EFFORT");
  return std::max<std::uint64_t>(1, percent == nullptr ? usual : usual * std::strtoull(percent, nullptr, 10) / 100);
}

} // namespace gossamer::test
