#include "gossamer/base/error.hpp"
#include "gossamer/topology/islands.hpp"

#include <gmock/gmock.h>

namespace gossamer::topology {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::size_t> of_ranks(const islands& all, rank count) {
  std::vector<std::size_t> result;
  for (rank i = 0; i < count; ++i)
    result.push_back(all.of(i));
  return result;
}

TEST(islands, hold_ranks_that_follow_each_other_and_newcomers_in_turn) {
  EXPECT_THAT(of_ranks(parse_islands("1,3,2", 6), 9), ElementsAre(0, 1, 1, 1, 2, 2, 0, 1, 2));
  EXPECT_THAT(of_ranks(parse_islands("3", 8), 8), ElementsAre(0, 0, 1, 1, 1, 2, 2, 2));
  EXPECT_THAT(of_ranks(islands{}, 4), ElementsAre(0, 1, 2, 3));
}

TEST(islands, know_whether_they_are_shared) {
  EXPECT_FALSE(islands{}.are_shared());
  EXPECT_FALSE(parse_islands("4", 4).are_shared());
  EXPECT_TRUE(parse_islands("1,2", 3).are_shared());
  EXPECT_EQ(parse_islands("1,2", 3).count(), 2u);
}

TEST(islands, have_a_text_that_reads_as_they_are) {
  for (const char* text : {"1,3,2", "1", "3,3"})
    EXPECT_EQ(islands_text(of_ranks(parse_islands(text, 6), 6)), text);
}

TEST(islands, refuse_other_numbers_of_workers) {
  for (const char* text : {"5", "1,2", "2,3", "0", "", "2,,2", "x"})
    try {
      parse_islands(text, 4);
      ADD_FAILURE() << text;
    } catch (const error& e) {
      EXPECT_EQ(e.code(), errc::usage);
      EXPECT_THAT(e.what(), HasSubstr("islands"));
    }
}

} // namespace
} // namespace gossamer::topology
