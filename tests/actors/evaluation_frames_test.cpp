// Frames for evaluations, as a peer may write them.
#include "gossamer/actors/evaluation/evaluation_frames.hpp"
#include "gossamer/base/error.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

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

constexpr float infinity = std::numeric_limits<float>::infinity();

std::string reading_of(const partial_mean& m) {
  buffer_pool pool;
  const rank_block where{1, 0};
  try {
    const auto read = read_partial_means(to_frame({{where, m}}, 1, evaluating_life(2, 1), pool), {{where, {m.models}}},
                                         m.mean.size(), pool);
    const auto& part = read.at(where);
    EXPECT_EQ(part.models, m.models);
    return std::isnan(part.distance()) ? "nan" : "a number";
  } catch (const error& e) {
    EXPECT_EQ(e.code(), errc::bad_packet);
    return e.sentence();
  }
}

TEST(a_partial_mean, has_no_spread_when_its_models_have_diverged) {
  buffer_pool pool;
  for (const auto odd : {infinity, -infinity, NAN}) {
    const partial_mean one{vec{pool, std::vector<float>{1, odd, 2}}};
    EXPECT_EQ(reading_of(one), "a number") << "a single model has a spread of 0";
    EXPECT_EQ(reading_of(merge(one, one)), "nan") << odd;
  }
}

TEST(a_partial_mean, has_no_spread_that_no_models_have) {
  buffer_pool pool;
  for (const double spread : {-1.0, -double{infinity}, double{NAN}})
    EXPECT_THAT(reading_of({vec{pool, std::vector<float>{1, 2, 3}}, 2, spread}), HasSubstr("and a spread of "));
  EXPECT_THAT(reading_of({vec{pool, std::vector<float>{1, NAN, 3}}, 2, -1}), HasSubstr("and a spread of -1"));
  EXPECT_EQ(reading_of({vec{pool, std::vector<float>{1, 2, 3}}, 2, 4}), "a number");
}

} // namespace
} // namespace gossamer::actors
