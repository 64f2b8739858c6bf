// An all-reduce along the rows and columns of a grid.
#include <gmock/gmock.h>

#include "reduction_world.hpp"

namespace gossamer::actors {
namespace {

TEST(torus_shape, is_as_square_as_can_be) {
  using shape = std::pair<std::size_t, std::size_t>;
  for (const auto& [members, expected] : {std::pair{1u, shape{1, 1}},
                                          {2u, shape{1, 2}},
                                          {4u, shape{2, 2}},
                                          {6u, shape{2, 3}},
                                          {7u, shape{1, 7}},
                                          {8u, shape{2, 4}},
                                          {9u, shape{3, 3}},
                                          {12u, shape{3, 4}},
                                          {64u, shape{8, 8}}})
    EXPECT_EQ(torus_shape(members), expected) << members;
}

TEST(torus_shape, has_the_rows_that_are_asked_for_where_they_can_be_filled) {
  using shape = std::pair<std::size_t, std::size_t>;
  EXPECT_EQ(torus_shape(8, 4), (shape{4, 2}));
  EXPECT_EQ(torus_shape(8, 1), (shape{1, 8}));
  EXPECT_EQ(torus_shape(8, 8), (shape{8, 1}));
  EXPECT_EQ(torus_shape(7, 4), (shape{1, 7})); // one worker of eight is lost
}

TEST(all_reduce, goes_along_as_many_rows_as_are_asked_for) {
  const auto dense = [](worker& w, vec& x) { return add_up(w, x, four_rows); };
  const auto bits = [](worker& w, vec& x) { return merge(w, x, four_rows); };
  const auto signs = [](worker& w, vec& x) { return count<sign_sum>(w, x, four_rows, sign_sum_code::fixed); };
  for (const auto length : lengths) {
    const auto counted = let_live({8, length}, signs);
    expect_agreement(*counted, 8);
    for (std::size_t k = 0; k < length; ++k)
      ASSERT_EQ(counted->model(5)[k], static_cast<float>(sum_of_signs(8, k)));
  }
  for (const auto& life : std::vector<script::life>{dense, bits, signs}) {
    const auto first = let_live({8, 1000}, life);
    EXPECT_EQ(first->sent(0).frames, 2u * (4 + 2 - 2));
    EXPECT_EQ(first->frames_from_to(0, 1), 2u); // along a row of two: out and back
    EXPECT_EQ(first->frames_from_to(0, 2), 6u); // down a column of four
    for (std::uint64_t timing = 1; timing <= 5; ++timing)
      EXPECT_EQ(let_live({8, 1000, timing}, life)->model(3), first->model(0));
  }
}

TEST(all_reduce, halves_with_one_partner_after_the_other) {
  EXPECT_EQ(prime_factors(1), std::vector<std::size_t>{1});
  EXPECT_EQ(prime_factors(12), (std::vector<std::size_t>{2, 2, 3}));
  EXPECT_EQ(prime_factors(7), std::vector<std::size_t>{7});
  const auto world = let_live({8, 1000}, [](worker& w, vec& x) { return add_up(w, x, route::halving); });
  EXPECT_EQ(world->sent(0).frames, 6u);
  for (const rank partner : {1u, 2u, 4u})
    EXPECT_EQ(world->frames_from_to(0, partner), 2u) << partner; // out and back
}

TEST(all_reduce, refuses_rows_that_the_workers_do_not_fill) {
  try {
    let_live({6, 10}, [](worker& w, vec& x) { return add_up(w, x, four_rows); });
    FAIL();
  } catch (const error& e) {
    EXPECT_EQ(e.code(), errc::usage);
    EXPECT_THAT(e.what(), testing::HasSubstr("6 workers do not make a torus of 4 rows"));
  }
  const auto& entry = algorithms().find("marsit");
  const arguments given{"algorithm", entry.about, spec::parse("marsit:rows=2")};
  buffer_pool pool;
  EXPECT_THROW(entry.make({.given = given, .initial = vec{pool, 4}}), error);
}

} // namespace
} // namespace gossamer::actors
