#include "gossamer/actors/runtime/failure_detector.hpp"

#include <gmock/gmock.h>

namespace gossamer::actors {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(failure_detector, suspects_who_is_silent_for_longer_than_the_patience) {
  failure_detector d{10s};
  d.heard(1, 0s);
  d.heard(2, 3s);
  EXPECT_THAT(d.silent(10s), IsEmpty());
  EXPECT_THAT(d.silent(10s + 1ns), ElementsAre(1));
  EXPECT_THAT(d.silent(14s), ElementsAre(1, 2));
  d.heard(1, 14s);
  EXPECT_THAT(d.silent(14s), ElementsAre(2));
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
