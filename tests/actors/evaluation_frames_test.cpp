// Frames for evaluations, as a peer may write them.
#include "gossamer/actors/evaluation/evaluation_frames.hpp"
#include "gossamer/base/error.hpp"

#include <gmock/gmock.h>

namespace gossamer::actors {
namespace {

using testing::HasSubstr;

std::string reading_of(const snapshot& s, std::size_t size) {
  buffer_pool pool;
  try {
    const auto read = read_snapshot(to_frame(s, pool), size, pool);
    return read.gradients == s.gradients && read.model == s.model ? "the same" : "another";
  } catch (const error& e) {
    EXPECT_EQ(e.code(), errc::bad_packet);
    return e.sentence();
  }
}

TEST(a_snapshot, has_the_size_of_its_part_and_counts_that_can_be) {
  buffer_pool pool;
  snapshot s{.source = 4, .evaluation = 1, .gradients = 7, .model = vec{pool, std::vector<float>{1, 2, 3}}, .sent = {}};
  EXPECT_EQ(reading_of(s, 3), "the same");
  for (const std::size_t other : {2u, 4u})
    EXPECT_THAT(reading_of(s, other), HasSubstr("a snapshot has 3 elements instead of"));
  s.sent.payload_bits = most_counted;
  EXPECT_THAT(reading_of(s, 3), HasSubstr("counts further than anybody can"));
  s.sent = {};
  s.gradients = most_counted;
  EXPECT_THAT(reading_of(s, 3), HasSubstr("counts further than anybody can"));
}

} // namespace
} // namespace gossamer::actors
