#include "gossamer/actors/faults/chaos.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <set>

#include "support/usage_error.hpp"

namespace gossamer::actors {
namespace {

using testing::HasSubstr;

constexpr std::uint64_t seeds = 2000;

/// Calls `test(plan)` for many seeds.
template <class Test>
void for_all_seeds(const chaos_limits& limits, const Test& test) {
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto plan = draw_plan(seed, limits);
    test(plan);
    if (testing::Test::HasFatalFailure())
      return;
  }
}

const std::array worlds{chaos_limits{}, chaos_limits{.workers = 1},
                        chaos_limits{.workers = 2, .workers_per_node = 2, .horizon_s = 0.001, .spare = 0},
                        chaos_limits{.workers = 3, .workers_per_node = 5, .spare = 9},
                        chaos_limits{.workers = 33, .workers_per_node = 4, .horizon_s = 1e6, .spare = 3}};

TEST(draw_plan, is_the_same_for_the_same_seed) {
  EXPECT_EQ(draw_plan(7, {}), draw_plan(7, {}));
  EXPECT_NE(draw_plan(7, {}), draw_plan(8, {}));
}

TEST(draw_plan, draws_what_a_run_accepts) {
  for (const auto& limits : worlds)
    for_all_seeds(limits, [&](const fault_plan& plan) {
      ASSERT_NO_THROW(check(plan, limits.workers, limits.workers_per_node));
      ASSERT_GE(plan.faults.size(), 1u);
      ASSERT_LE(plan.faults.size(), 8u);
    });
}

TEST(draw_plan, round_trips_as_text) {
  for (const auto& limits : worlds)
    for (std::uint64_t seed = 0; seed < 250; ++seed) {
      const auto plan = draw_plan(seed, limits);
      ASSERT_EQ(parse_plan(to_toml(plan), "plan"), plan) << seed;
    }
}

TEST(draw_plan, leaves_a_quiet_end) {
  for (const auto& limits : worlds)
    for_all_seeds(limits, [&](const fault_plan& plan) {
      for (const auto& f : plan.faults) {
        ASSERT_LE(f.at_s, 0.7 * limits.horizon_s);
        ASSERT_TRUE(f.lasts_s || f.kind == fault_kind::kill);
      }
      ASSERT_LE(plan.last_end_s(), 0.8 * limits.horizon_s * (1 + 1e-12));
      ASSERT_TRUE(std::ranges::is_sorted(plan.faults, {}, &fault::at_s));
    });
}

TEST(draw_plan, spares_enough_workers_and_kills_nobody_who_is_dead) {
  for (const auto& limits : worlds)
    for_all_seeds(limits, [&](const fault_plan& plan) {
      std::vector<double> dead_until(limits.workers, -1);
      for (const auto& f : plan.faults)
        if (f.kind == fault_kind::kill)
          for (const auto worker : named_workers(f, limits.workers, limits.workers_per_node)) {
            ASSERT_LT(dead_until[worker], f.at_s);
            dead_until[worker] = f.lasts_s ? f.at_s + *f.lasts_s : std::numeric_limits<double>::infinity();
          }
      // A plan kills at most workers - spare workers in all, so no more are dead at one time.
      ASSERT_GE(static_cast<std::size_t>(std::ranges::count(dead_until, -1)), std::min(limits.spare, limits.workers));
    });
}

TEST(draw_plan, leaves_most_of_those_alive_that_vote) {
  int coordinators = 0, processes = 0, masters = 0;
  for (const std::size_t workers : {3u, 8u, 12u, 20u}) { // of the first, any leader may have two
    const chaos_limits limits{
        .workers = workers, .masters = 1, .workers_per_node = 2, .horizon_s = 20, .processes = true};
    for_all_seeds(limits, [&](const fault_plan& plan) {
      ASSERT_NO_THROW(check(plan, workers + 1, 2));
      ASSERT_EQ(parse_plan(to_toml(plan), "plan"), plan);
      for (const auto& f : plan.faults) {
        std::size_t dead = 0;
        for (const auto& g : plan.faults)
          if (g.strikes_processes() && g.at_s <= f.at_s && (!g.lasts_s || f.at_s <= g.at_s + *g.lasts_s))
            dead += g.coordinators ? *g.coordinators : g.nodes.size() + g.workers.size();
        for (const auto i : f.workers)
          if (f.processes && i == workers) {
            ASSERT_TRUE(f.lasts_s) << "nobody takes its place\n" << to_toml(plan);
            ++masters;
          }
        ASSERT_LT(2 * dead, std::min<std::size_t>((workers + 1) / 2 + 1, 7)) << to_toml(plan);
        coordinators += f.coordinators.has_value();
        processes += f.processes;
      }
    });
  }
  EXPECT_GT(coordinators, 500);
  EXPECT_GT(processes, 200);
  EXPECT_GT(masters, 100);
}

// What is cut off for long loses its vote, and needs a worker to have it again: two of the others may be half of those
// that vote.
TEST(draw_plan, leaves_most_of_those_that_vote_on_one_side_of_a_partition) {
  int beside_partitions = 0;
  for (const std::size_t workers : {6u, 7u}) {
    const chaos_limits limits{.workers = workers, .horizon_s = 60, .processes = true};
    for_all_seeds(limits, [&](const fault_plan& plan) {
      for (auto f = plan.faults.begin(); f != plan.faults.end(); ++f) {
        if (!f->strikes_processes())
          continue;
        std::size_t away = 0, without_workers = 0, cut_off = 0;
        bool was_parted = false;
        for (auto g = plan.faults.begin(); g <= f; ++g) {
          was_parted |= g->kind == fault_kind::partition;
          if (g->lasts_s && f->at_s > g->at_s + *g->lasts_s)
            continue;
          if (g->strikes_processes())
            away += g->coordinators.value_or(g->nodes.size());
          else if (g->kind == fault_kind::kill)
            without_workers += g->workers.size();
          else if (g->kind == fault_kind::partition)
            cut_off = std::max(cut_off, std::min(g->workers.size(), workers - g->workers.size()));
        }
        ASSERT_LT(2 * (away + cut_off + (was_parted ? without_workers : 0)), workers) << to_toml(plan);
        beside_partitions += cut_off > 0;
      }
    });
  }
  EXPECT_GT(beside_partitions, 10);
}

// A process that comes back has no model until another gives it one.
TEST(draw_plan, leaves_workers_alive_while_those_that_vote_are_away) {
  int deaths = 0;
  for (const std::size_t per_node : {1u, 2u, 3u})
    for (const std::size_t masters : {0u, 2u})
      for (const std::size_t workers : {2u, 3u, 9u, 12u})
        for_all_seeds({.workers = workers, .masters = masters, .workers_per_node = per_node, .processes = true},
                      [&](const fault_plan& plan) {
                        for (const auto& when : plan.faults) {
                          if (!when.coordinators)
                            continue;
                          std::vector<std::size_t> left((workers + per_node - 1) / per_node);
                          for (std::size_t i = 0; i < workers; ++i)
                            ++left[i / per_node];
                          std::size_t coordinators = 0;
                          for (const auto& f : plan.faults) {
                            const bool is_on = f.kind == fault_kind::kill && f.at_s <= when.at_s
                                               && (!f.lasts_s || when.at_s < f.at_s + *f.lasts_s);
                            if (!is_on)
                              continue;
                            coordinators += f.coordinators.value_or(0);
                            if (!f.coordinators)
                              for (const auto i : named_workers(f, workers, per_node))
                                --left[i / per_node];
                          }
                          std::ranges::sort(left, std::greater{});
                          ASSERT_LT(coordinators, left.size()) << to_toml(plan);
                          ASSERT_GT(left[coordinators], 0u) << to_toml(plan);
                          ++deaths;
                        }
                      });
  EXPECT_GT(deaths, 1000);
}

TEST(draw_plan, leaves_workers_alive_whichever_of_those_that_vote_it_kills) {
  int for_ever = 0;
  for (const std::size_t per_node : {1u, 2u, 3u})
    for (const std::size_t masters : {0u, 2u})
      for (const std::size_t workers : {2u, 3u, 9u, 12u}) {
        const chaos_limits limits{
            .workers = workers, .masters = masters, .workers_per_node = per_node, .horizon_s = 20, .processes = true};
        for_all_seeds(limits, [&](const fault_plan& plan) {
          std::vector<std::size_t> left((workers + per_node - 1) / per_node); // by node, where others die by name
          for (std::size_t i = 0; i < workers; ++i)
            ++left[i / per_node];
          std::size_t coordinators = 0;
          for (const auto& f : plan.faults) {
            if (f.kind != fault_kind::kill || f.lasts_s)
              continue;
            coordinators += f.coordinators.value_or(0);
            for (const auto i : named_workers(f, workers, per_node))
              left[i / per_node] -= f.coordinators ? 0 : 1;
          }
          if (masters > 0) {
            ASSERT_EQ(coordinators, 0u) << "one may have a master\n" << to_toml(plan);
          }
          std::ranges::sort(left, std::greater{});
          std::size_t alive = 0;
          for (auto k = coordinators; k < left.size(); ++k)
            alive += left[k];
          ASSERT_GE(alive, 1u) << to_toml(plan);
          for_ever += coordinators > 0;
        });
      }
  EXPECT_GT(for_ever, 500);
}

TEST(draw_plan, kills_masters_before_they_have_done_anything) {
  for (const bool of_processes : {false, true}) {
    int alone = 0, with_process = 0, in_all = 0;
    const chaos_limits limits{.workers = 8, .masters = 2, .processes = of_processes};
    for_all_seeds(limits, [&](const fault_plan& plan) {
      in_all += std::ranges::any_of(plan.faults, [](const auto& f) { return f.kind == fault_kind::kill; });
      const auto& first = plan.faults.front();
      if (first.kind != fault_kind::kill || first.at_s > 0 || first.workers.empty() || first.workers.front() < 8)
        return;
      ASSERT_TRUE(first.lasts_s || !first.processes) << "nobody takes its place\n" << to_toml(plan);
      ++(first.processes ? with_process : alone);
    });
    EXPECT_GT(4 * (alone + with_process), in_all / 2);
    EXPECT_EQ(with_process > 60, of_processes);
    EXPECT_GT(alone, 50);
  }
}

TEST(draw_plan, lets_those_come_who_are_not_there_and_those_leave_who_are) {
  int joined = 0, came_again = 0, left_for_ever = 0, left_for_a_while = 0, processes = 0;
  for (const bool of_processes : {false, true}) {
    const chaos_limits limits{
        .workers = 10, .workers_per_node = 2, .horizon_s = 20, .processes = of_processes, .comers = 3};
    for_all_seeds(limits, [&](const fault_plan& plan) {
      ASSERT_NO_THROW(check(plan, limits.workers, limits.workers_per_node));
      ASSERT_EQ(parse_plan(to_toml(plan), "plan"), plan);
      std::vector<double> away_until(limits.workers, -1);
      std::fill(away_until.end() - 3, away_until.end(), HUGE_VAL);
      std::set<rank> taken_away, gone_with_process;
      if (of_processes)
        gone_with_process = {8, 9}; // worker 7 shares its process with 6
      for (const auto& f : plan.faults) {
        if ((f.kind != fault_kind::kill && f.kind != fault_kind::leave && f.kind != fault_kind::join) || f.coordinators)
          continue;
        processes += f.processes && f.kind != fault_kind::kill;
        (f.lasts_s ? left_for_a_while : left_for_ever) += f.kind == fault_kind::leave;
        for (const auto i : named_workers(f, limits.workers, limits.workers_per_node)) {
          if (f.kind == fault_kind::join) {
            ASSERT_EQ(away_until[i], HUGE_VAL) << to_toml(plan);
            ASSERT_EQ(f.processes, gone_with_process.erase(i) == 1) << to_toml(plan);
            ++(i < 7 ? came_again : joined);
            away_until[i] = -1;
          } else {
            if (f.processes && !f.lasts_s)
              gone_with_process.insert(i);
            ASSERT_LT(away_until[i], f.at_s) << to_toml(plan);
            away_until[i] = f.lasts_s ? f.at_s + *f.lasts_s : HUGE_VAL;
            taken_away.insert(i);
          }
        }
      }
      ASSERT_LE(taken_away.size(), limits.workers - limits.spare);
    });
  }
  for (const int count : {joined, came_again, left_for_ever, left_for_a_while, processes})
    EXPECT_GT(count, 100);
}

TEST(draw_plan, switches_whole_kinds_off_and_on) {
  std::array<int, fault_kinds> plans_with{};
  int forever = 0, kills_and_leaves = 0, with_nodes = 0, on_all_links = 0, one_way = 0;
  std::set<std::size_t> sizes;
  for_all_seeds({.workers = 16, .workers_per_node = 4, .spare = 3, .comers = 4}, [&](const fault_plan& plan) {
    std::set<fault_kind> kinds;
    for (const auto& f : plan.faults) {
      kinds.insert(f.kind);
      kills_and_leaves += f.kind == fault_kind::kill || f.kind == fault_kind::leave;
      forever += !f.lasts_s && f.kind != fault_kind::join;
      with_nodes += !f.nodes.empty();
      one_way += f.one_way;
      on_all_links += strikes_frames(f.kind) && f.from.empty() && f.to.empty();
    }
    for (const auto kind : kinds)
      ++plans_with[static_cast<std::size_t>(kind)];
    sizes.insert(plan.faults.size());
  });
  // A kind that is on, among about five, comes up in about half of the plans. A kind that is off comes up in none.
  for (const int count : plans_with) {
    EXPECT_GT(count, static_cast<int>(seeds / 5));
    EXPECT_LT(count, static_cast<int>(seeds / 2));
  }
  EXPECT_NEAR(forever, kills_and_leaves / 2, 4.5 * std::sqrt(kills_and_leaves / 4.0));
  EXPECT_GT(with_nodes, 100);
  EXPECT_GT(on_all_links, 100);
  EXPECT_GT(one_way, 50);
  EXPECT_EQ(sizes.size(), 8u);
}

TEST(draw_plan, is_mild_as_often_as_wild) {
  int mild = 0, all = 0;
  for_all_seeds({}, [&](const fault_plan& plan) {
    for (const auto& f : plan.faults)
      if (f.kind == fault_kind::drop) {
        ++all;
        mild += f.rate < 0.032; // the middle, as a power of 10, of 0.001 and 1
      }
  });
  EXPECT_NEAR(mild, all / 2, 0.1 * all);
}

TEST(draw_plan, leaves_out_what_there_is_no_room_for) {
  for_all_seeds({.workers = 1}, [](const fault_plan& plan) {
    for (const auto& f : plan.faults)
      ASSERT_TRUE(f.kind == fault_kind::pause || f.kind == fault_kind::slow) << describe(f);
  });
  for_all_seeds({.workers = 3, .spare = 3}, [](const fault_plan& plan) {
    for (const auto& f : plan.faults)
      ASSERT_NE(f.kind, fault_kind::kill);
  });
}

TEST(draw_plan, copes_with_many_workers) {
  const chaos_limits limits{.workers = 10'000, .workers_per_node = 8, .spare = 2};
  for (std::uint64_t seed = 0; seed < 20; ++seed)
    EXPECT_NO_THROW(check(draw_plan(seed, limits), limits.workers, limits.workers_per_node));
}

TEST(draw_plan, refuses_impossible_limits) {
  EXPECT_THAT(usage_error([] { draw_plan(1, {.workers = 0}); }), HasSubstr("allowed: 1 to 1000000 workers"));
  EXPECT_THAT(usage_error([] { draw_plan(1, {.workers = 3, .comers = 3}); }), HasSubstr("of whom 3 come later"));
  EXPECT_THAT(usage_error([] { draw_plan(1, {.workers_per_node = 0}); }), HasSubstr("at least 1 on each node"));
  for (const double horizon : {0.0, -1.0, 1e10, std::numeric_limits<double>::quiet_NaN()})
    EXPECT_THAT(usage_error([&] { draw_plan(1, {.horizon_s = horizon}); }), HasSubstr("allowed: 0.001 to 1e9 seconds"));
}

} // namespace
} // namespace gossamer::actors
