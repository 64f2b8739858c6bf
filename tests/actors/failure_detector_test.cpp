#include "gossamer/actors/agreement/failure_detector.hpp"

#include <gmock/gmock.h>

namespace gossamer::actors {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

/// Looks every half second.
/// @returns the nodes that are suspected in the end
std::vector<std::uint32_t> watched(failure_detector& d, failure_detector::time from, failure_detector::time to) {
  for (auto now = from; now < to; now += heartbeat_every)
    EXPECT_THAT(d.silent(now), IsEmpty());
  return d.silent(to);
}

TEST(failure_detector, suspects_who_is_silent_for_longer_than_the_patience) {
  failure_detector d{10s};
  d.heard(1, 0s);
  d.heard(2, 3s);
  EXPECT_THAT(watched(d, 0s, 10s), IsEmpty());
  EXPECT_THAT(d.silent(10s + 1ns), ElementsAre(1));
  for (failure_detector::time now = 10s + heartbeat_every; now <= 13s; now += heartbeat_every)
    EXPECT_THAT(d.silent(now), ElementsAre(1));
  EXPECT_THAT(d.silent(13s + 1ns), ElementsAre(1, 2));
  d.heard(1, 14s);
  EXPECT_THAT(d.silent(14s), ElementsAre(2));
}

TEST(failure_detector, does_not_suspect_others_when_it_has_stood_still_itself) {
  failure_detector d{10s};
  d.heard(1, 0s);
  d.heard(2, 5s);
  EXPECT_THAT(watched(d, 0s, 8s), IsEmpty());
  EXPECT_THAT(d.silent(60s), IsEmpty()) << "what they have said meanwhile comes next";
  d.heard(2, 60s);
  EXPECT_THAT(watched(d, 60s, 62s), IsEmpty());
  EXPECT_THAT(d.silent(62s + 1ns), ElementsAre(1)) << "the patience goes on where it was";
}

TEST(failure_detector, watches_nobody_of_whom_it_has_not_heard_or_who_is_forgotten) {
  failure_detector d{1s};
  EXPECT_THAT(d.silent(100s), IsEmpty());
  d.heard(7, 0s);
  d.forget(7);
  EXPECT_THAT(d.silent(100s), IsEmpty());
}

} // namespace
} // namespace gossamer::actors
