#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace gossamer::test {

/// The value of GOSSAMER_TEST_EFFORT, in percent.
inline std::uint64_t effort() {
  const char* percent = std::getenv("GOSSAMER_TEST_EFFORT");
  return percent == nullptr ? 100 : std::strtoull(percent, nullptr, 10);
}

/// Returns how many random plans, schedules or seeds a test tries: GOSSAMER_TEST_EFFORT percent of its usual number,
/// 100 percent without that variable, and at least one. Less is for builds that take ten times as long, more is for a
/// night.
inline std::uint64_t tries(std::uint64_t usual) { return std::max<std::uint64_t>(1, usual * effort() / 100); }

/// False if fewer are tried than usual: then a test does not ask what only many of them have in common, such as that
/// each rare path was taken.
inline bool tries_all() { return effort() >= 100; }

} // namespace gossamer::test
