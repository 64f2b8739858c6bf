// The agreement of nodes under every schedule of small worlds, and under drawn schedules of larger worlds. Messages
// come late, twice, in any order or never; processes die and come back without a memory. consensus_world.cpp and
// consensus_training.cpp check the promises. GOSSAMER_TEST_EFFORT above 100 opens larger worlds.
#include "gossamer/base/philox.hpp"
#include "gossamer/testing/effort.hpp"

#include <gtest/gtest.h>

#include <unordered_set>

#include "consensus_world.hpp"
#include "support/marks.hpp"

namespace gossamer::actors::consensus {
namespace {

struct explored {
  std::size_t states = 0, transitions = 0, most_resolutions = 0;
  bool complete = false;
  std::string wrong; ///< empty: no promise was broken
};

/// Explores depth first, so that the way to a broken promise is at hand.
class exploration {
public:
  exploration(const setting& s, std::size_t most_states) : most_(most_states) { way_.emplace_back(world{s}); }

  explored run() {
    try {
      while (!way_.empty() && found_.states < most_)
        advance();
      found_.complete = way_.empty();
    } catch (const broken& b) {
      found_.wrong = b.how + ", after:" + way();
    }
    return found_;
  }

private:
  struct stop_on_the_way {
    explicit stop_on_the_way(world w) : where(std::move(w)), open(where.possible()) {}
    world where;
    std::vector<action> open;
    std::size_t next = 0;
  };

  void advance() {
    auto& here = way_.back();
    if (here.next == here.open.size())
      return way_.pop_back();
    auto there = here.where;
    ++found_.transitions;
    there.act(here.open[here.next++]);
    if (!seen_.insert(there.hash()).second)
      return;
    found_.states = seen_.size();
    found_.most_resolutions = std::max(found_.most_resolutions, there.resolutions());
    way_.emplace_back(std::move(there));
  }

  std::string way() const {
    std::string result;
    for (const auto& stop : way_)
      result += "\n  " + stop.where.describe(stop.open[stop.next - 1]);
    return result;
  }

  std::size_t most_;
  std::vector<stop_on_the_way> way_;
  std::unordered_set<std::uint64_t> seen_;
  explored found_;
};

explored explore(const bounds& b, rounds kind, rule left_out = rule::none, std::size_t most_states = ~std::size_t{0}) {
  const setting s{b, kind, left_out};
  return exploration{s, most_states}.run();
}

std::string text(const bounds& b) {
  return std::to_string(b.processes) + (b.launcher ? " processes and a launcher, " : " processes, ")
         + std::to_string(b.leaders) + " leaders, " + std::to_string(b.crashes) + " crashes, "
         + std::to_string(b.restarts) + " restarts, " + std::to_string(b.stops) + " stops, " + std::to_string(b.steps)
         + " steps";
}

// -- every schedule ---------------------------------------------------------------------------------------------------

struct small_world {
  bounds may;
  rounds kind;
  std::uint64_t from_effort = 0; ///< least GOSSAMER_TEST_EFFORT, in percent
};

void hold_to_promises(const small_world& w) {
  if (test::effort() < w.from_effort)
    return;
  // Builds with sanitizers are slow, and explore no more than some states.
  const auto most = test::tries_all() ? ~std::size_t{0} : test::tries(400'000);
  const auto all = explore(w.may, w.kind, rule::none, most);
  EXPECT_EQ(all.wrong, "") << text(w.may);
  EXPECT_TRUE(all.complete || most != ~std::size_t{0});
  std::printf("%s: %zu states, %zu transitions, %zu resolutions\n", text(w.may).c_str(), all.states, all.transitions,
              all.most_resolutions);
}

TEST(every_schedule, keeps_replicas_equal_and_resolutions_unique) {
  for (const auto& w : {small_world{{.leaders = 2}, rounds::repeat},
                        {{.leaders = 1, .crashes = 1, .restarts = 1}, rounds::repeat},
                        {{.leaders = 1, .stops = 1}, rounds::repeat},
                        {{.leaders = 2, .crashes = 1}, rounds::repeat, 300},
                        {{.leaders = 2, .crashes = 1, .restarts = 1}, rounds::repeat, 1000}})
    hold_to_promises(w);
}

TEST(every_schedule, lets_rounds_be_finished) {
  for (const auto& w : {small_world{{.leaders = 1, .stops = 1, .steps = 2}, rounds::finish},
                        {{.processes = 2, .launcher = true, .leaders = 2}, rounds::finish},
                        {{.leaders = 1, .crashes = 1, .restarts = 1}, rounds::finish},
                        {{.leaders = 2}, rounds::finish, 300}})
    hold_to_promises(w);
}

TEST(every_schedule, shares_out_what_is_left_to_compute) {
  for (const auto kind : {rounds::repeat, rounds::finish})
    for (const auto& w : {small_world{{.leaders = 1, .crashes = 1, .steps = 3, .planned = 3}, kind},
                          {{.leaders = 2, .steps = 2, .planned = 2}, kind, 300},
                          {{.leaders = 1, .crashes = 1, .restarts = 1, .steps = 3, .planned = 3}, kind, 300}})
      hold_to_promises(w);
}

TEST(every_schedule, never_stops_asynchronous_workers) {
  for (const auto& w : {small_world{{.leaders = 2, .steps = 0}, rounds::none},
                        {{.leaders = 2, .crashes = 1, .restarts = 1, .steps = 0}, rounds::none}})
    hold_to_promises(w);
}

// -- rules left out ---------------------------------------------------------------------------------------------------

struct mutant {
  rule left_out;
  rounds kind;
  bounds may;
};

class a_rule : public testing::TestWithParam<mutant> {};

TEST_P(a_rule, is_missed_when_it_is_left_out) {
  const auto& [left_out, kind, may] = GetParam();
  const auto found = explore(may, kind, left_out, 3'000'000);
  EXPECT_NE(found.wrong, "") << "nobody has noticed, in " << found.states << " states";
  std::printf("%zu states: %s\n", found.states, found.wrong.substr(0, found.wrong.find(',')).c_str());
}

INSTANTIATE_TEST_SUITE_P(, a_rule,
                         testing::Values(mutant{rule::accept, rounds::repeat, {.leaders = 2}},
                                         mutant{rule::inherit, rounds::repeat, {.leaders = 2}},
                                         mutant{rule::promise, rounds::repeat, {.leaders = 2}},
                                         mutant{rule::fence, rounds::repeat, {.leaders = 2}},
                                         mutant{
                                             rule::lives, rounds::repeat, {.leaders = 2, .crashes = 1, .restarts = 1}},
                                         mutant{rule::freeze, rounds::repeat, {.leaders = 1}},
                                         mutant{rule::line, rounds::repeat, {.leaders = 2}},
                                         mutant{rule::freeze, rounds::finish, {.leaders = 1, .steps = 2}},
                                         mutant{rule::later, rounds::finish, {.leaders = 1, .steps = 2}},
                                         mutant{rule::limit, rounds::finish, {.leaders = 1, .stops = 1, .steps = 2}},
                                         mutant{rule::limit, rounds::repeat, {.leaders = 1, .stops = 1}},
                                         mutant{rule::end, rounds::repeat, {.leaders = 1, .planned = 1}},
                                         mutant{rule::inherit, rounds::none, {.leaders = 2, .steps = 0}},
                                         mutant{rule::promise, rounds::none, {.leaders = 2, .steps = 0}}));

// -- drawn schedules, and calm weather after them ---------------------------------------------------------------------

/// @returns the end of the run
std::string weather(std::uint64_t seed, rounds kind) {
  random_sequence draw{{seed, 0, purpose::interleaving}, 0};
  const bounds b{.processes = 2 + draw.below(4),
                 .launcher = draw.below(3) == 0,
                 .leaders = 40,
                 .crashes = 20,
                 .restarts = 200,
                 .stops = static_cast<int>(draw.below(2)),
                 .steps = 200};
  const setting s{b, kind};
  world w{s};
  const bool merciful = draw.below(4) != 0, come_back = draw.below(2) != 0;
  for (auto k = 20 + draw.below(400); k > 0; --k) {
    const auto all = w.possible();
    if (all.empty())
      break;
    const auto a = all[draw.below(static_cast<std::uint32_t>(all.size()))];
    const bool stands = a.what == action::kind::stand || a.what == action::kind::stop;
    if (stands && draw.below(3) != 0)
      continue;
    if (a.what == action::kind::crash && (draw.below(4) != 0 || (merciful && !w.survives(a.who))))
      continue;
    w.act(a);
  }
  return w.calm(come_back);
}

class any_weather : public testing::TestWithParam<rounds> {};

TEST_P(any_weather, is_survived_by_the_run_if_a_quorum_does) {
  std::map<std::string, std::uint64_t> ends;
  const auto seeds = test::tries(700);
  for (std::uint64_t seed = 1; seed <= seeds; ++seed)
    try {
      ++ends[weather(seed, GetParam())];
    } catch (const broken& b) {
      FAIL() << b.how << "; seed " << seed;
    }
  EXPECT_GT(2 * ends["the run goes on"], seeds);
  for (const auto& [how, count] : ends)
    std::printf("%6llu: %s\n", static_cast<unsigned long long>(count), how.c_str());
}

INSTANTIATE_TEST_SUITE_P(, any_weather, testing::Values(rounds::repeat, rounds::finish, rounds::none));

/// googletest owns it.
[[maybe_unused]] const auto* const marks = testing::AddGlobalTestEnvironment(
    new testing_support::passes_marks({mark::inherited_proposal, mark::second_candidate, mark::lost_models}));

} // namespace
} // namespace gossamer::actors::consensus
