// Seats under every schedule of small worlds, and under drawn schedules of larger worlds. Newcomers ask, are refused,
// die before they are ready, or come; processes fall silent, are heard again, or die, the leader too. A list of
// resolutions, to which a leader adds, stands in for agreement, which other tests explore.
#include "gossamer/base/philox.hpp"
#include "gossamer/testing/effort.hpp"

#include <gtest/gtest.h>

#include <unordered_set>

#include "seats_world.hpp"

namespace gossamer::actors::consensus {
namespace {

struct explored_seats {
  std::size_t states = 0;
  std::string wrong; ///< empty: no promise was broken
};

explored_seats explore(const limits& may, mistake wrong, std::size_t most) {
  explored_seats found;
  std::unordered_set<std::uint64_t> seen;
  std::vector<seat_world> open{{may, wrong}};
  while (!open.empty() && seen.size() < most && found.wrong.empty()) {
    const auto here = std::move(open.back());
    open.pop_back();
    for (const auto& s : here.possible()) {
      auto there = here;
      try {
        there.act(s);
        if (!seen.insert(there.hash()).second)
          continue;
        auto later = there;
        later.calm();
      } catch (const broken& b) {
        found.wrong = b.how + ", after" + there.way();
      }
      open.push_back(std::move(there));
    }
  }
  found.states = seen.size();
  return found;
}

/// @returns the broken promise; empty: none
std::string draw(std::uint64_t seed, mistake wrong) {
  random_sequence next{{seed, 0, purpose::interleaving}, 0};
  const limits may{.places = 2 + next.below(4), .joins = 12, .silences = 8, .crashes = 6, .resolutions = 12};
  seat_world w{may, wrong};
  try {
    for (auto k = 10 + next.below(120); k > 0; --k) {
      const auto all = w.possible();
      if (all.empty())
        break;
      w.act(all[next.below(static_cast<std::uint32_t>(all.size()))]);
    }
    w.calm();
  } catch (const broken& b) {
    return b.how + "; seed " + std::to_string(seed) + ", after" + w.way();
  }
  return {};
}

TEST(every_schedule_of_seats, loses_no_place_and_throws_nobody_out) {
  // Builds with sanitizers are slow, and explore no more than some states.
  const auto most = test::tries(100) < 100 ? test::tries(200'000) : ~std::size_t{0};
  for (const auto& may : {limits{.places = 2, .joins = 2, .silences = 1, .crashes = 1, .resolutions = 2},
                          limits{.places = 3, .joins = 2, .silences = 1, .crashes = 0, .resolutions = 1},
                          limits{.places = 3, .joins = 1, .silences = 1, .crashes = 1, .resolutions = 1}}) {
    const auto found = explore(may, mistake::none, most);
    EXPECT_EQ(found.wrong, "");
    std::printf("%u places, %d joins, %d silences, %d crashes, %d resolutions: %zu states\n", may.places, may.joins,
                may.silences, may.crashes, may.resolutions, found.states);
  }
}

TEST(any_schedule_of_seats, loses_no_place_and_throws_nobody_out) {
  const auto seeds = test::tries(10'000);
  for (std::uint64_t seed = 1; seed <= seeds; ++seed)
    ASSERT_EQ(draw(seed, mistake::none), "");
}

class a_mistake_with_seats : public testing::TestWithParam<mistake> {};

TEST_P(a_mistake_with_seats, is_noticed) {
  std::string wrong;
  std::uint64_t seed = 0;
  while (wrong.empty() && seed < 10'000)
    wrong = draw(++seed, GetParam());
  EXPECT_NE(wrong, "");
  std::printf("%s\n", wrong.c_str());
}

INSTANTIATE_TEST_SUITE_P(, a_mistake_with_seats,
                         testing::Values(mistake::raise_when_asked, mistake::tell_of_candidates, mistake::count_lives,
                                         mistake::replace_the_heard));

} // namespace
} // namespace gossamer::actors::consensus
