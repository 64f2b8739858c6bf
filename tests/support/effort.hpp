#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace gossamer::test {

/// How many random plans, schedules or seeds a test tries, where it usually tries so many: GOSSAMER_TEST_EFFORT percent
/// of them, 100 without that variable, and at least one. Less is for builds in which everything takes ten times as
/// long, more is for a night.
inline std::uint64_t tries(std::uint64_t usual) {
  const char* percent = std::getenv("GOSSAMER_TEST_EFFORT");
  return std::max<std::uint64_t>(1, percent == nullptr ? usual : usual * std::strtoull(percent, nullptr, 10) / 100);
}

} // namespace gossamer::test
