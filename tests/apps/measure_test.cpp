#include "gossamer/apps/detail/measure.hpp"

#include <gtest/gtest.h>

namespace gossamer::apps {
namespace {

TEST(seconds_of_bytes, leaves_out_the_way_there_and_back) { EXPECT_DOUBLE_EQ(seconds_of_bytes(0.5, 0.1), 0.3); }

TEST(seconds_of_bytes, is_no_nonsense_where_the_machine_was_busier_before) {
  EXPECT_DOUBLE_EQ(seconds_of_bytes(0.02, 0.012), 0.01);
  EXPECT_DOUBLE_EQ(seconds_of_bytes(0.02, 10), 0.01);
}

} // namespace
} // namespace gossamer::apps
