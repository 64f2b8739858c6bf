#include "gossamer/actors/faults/chaos.hpp"
#include "gossamer/actors/faults/shrink.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>

namespace gossamer::actors {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using enum fault_kind;

bool strikes(const fault& f, rank worker) { return std::ranges::find(f.workers, worker) != f.workers.end(); }

bool has(const fault_plan& plan, const std::function<bool(const fault&)>& property) {
  return std::ranges::any_of(plan.faults, property);
}

/// Returns 64 drops that differ in their begin, 0 to 63 s.
fault_plan many_faults() {
  fault_plan plan;
  for (int i = 0; i < 64; ++i)
    plan.faults.push_back({.kind = drop, .at_s = static_cast<double>(i), .lasts_s = 0.001, .rate = 0.001});
  return plan;
}

std::vector<double> begins(const fault_plan& plan) {
  std::vector<double> result;
  for (const auto& f : plan.faults)
    result.push_back(f.at_s);
  return result;
}

bool contains_all(const fault_plan& plan, const std::set<double>& wanted) {
  const auto found = begins(plan);
  return std::ranges::all_of(wanted, [&](double at) { return std::ranges::find(found, at) != found.end(); });
}

TEST(shrink, finds_the_smallest_set_of_faults) {
  for (const std::set<double>& culprits :
       std::vector<std::set<double>>{{5}, {0, 63}, {31, 32}, {7, 30, 50}, {1, 2, 3, 9}}) {
    const auto small = shrink(many_faults(), [&](const fault_plan& p) { return contains_all(p, culprits); });
    EXPECT_THAT(begins(small), testing::ElementsAreArray(culprits));
  }
}

TEST(shrink, needs_few_attempts_for_one_culprit) {
  std::size_t attempts = 0;
  shrink_options options;
  options.on_attempt = [&](std::size_t attempt, const fault_plan&, bool) { attempts = attempt; };
  shrink(
      many_faults(), [](const fault_plan& p) { return contains_all(p, {41}); }, options);
  EXPECT_LE(attempts, 30u);
}

TEST(shrink, keeps_every_fault_that_is_needed) {
  const auto plan = many_faults();
  const auto small = shrink(plan, [&](const fault_plan& p) { return p.faults.size() == plan.faults.size(); });
  EXPECT_EQ(small.faults.size(), plan.faults.size());
}

TEST(shrink, finds_that_no_fault_is_needed) {
  EXPECT_THAT(shrink(many_faults(), [](const fault_plan&) { return true; }).faults, IsEmpty());
  EXPECT_THAT(shrink({}, [](const fault_plan&) { return true; }).faults, IsEmpty());
}

TEST(shrink, leaves_workers_nodes_and_links_out) {
  const fault_plan plan{{{.kind = kill, .workers = {0, 1, 2, 3, 4}, .nodes = {0, 1}},
                         {.kind = partition, .from = {0, 1, 2}, .to = {3, 4}},
                         {.kind = pause, .nodes = {0, 1, 2, 3}}}};
  const auto small = shrink(plan, [](const fault_plan& p) {
    return has(p, [](const fault& f) { return f.kind == kill && strikes(f, 2) && strikes(f, 4); })
           && has(p, [](const fault& f) { return f.kind == partition && f.from.front() <= 1 && f.to.back() == 4; })
           && has(p, [](const fault& f) { return f.kind == pause && std::ranges::count(f.nodes, 3u) > 0; });
  });
  ASSERT_EQ(small.faults.size(), 3u);
  EXPECT_THAT(small.faults[0].workers, ElementsAre(2, 4));
  EXPECT_THAT(small.faults[0].nodes, IsEmpty());
  EXPECT_THAT(small.faults[1].from, testing::SizeIs(1));
  EXPECT_THAT(small.faults[1].to, ElementsAre(4));
  EXPECT_THAT(small.faults[2].nodes, ElementsAre(3));
}

TEST(shrink, narrows_faults_of_all_links_when_it_knows_the_workers) {
  const fault_plan plan{{{.kind = drop}}};
  const auto on_the_link = [](const fault_plan& p) {
    return has(p, [](const fault& f) {
      const auto leads = [](const auto& list, rank end) { return list.empty() || std::ranges::count(list, end) > 0; };
      return leads(f.from, 3) && leads(f.to, 5);
    });
  };
  const auto small = shrink(plan, on_the_link, {.workers = 8});
  ASSERT_EQ(small.faults.size(), 1u);
  EXPECT_THAT(small.faults[0].from, ElementsAre(3));
  EXPECT_THAT(small.faults[0].to, ElementsAre(5));
  EXPECT_THAT(shrink(plan, on_the_link).faults[0].from, IsEmpty());
}

TEST(shrink, makes_numbers_milder_and_simpler) {
  const fault_plan plan{{{.kind = drop, .at_s = 3.217, .lasts_s = 5.391, .rate = 0.8132},
                         {.kind = slow, .workers = {0}, .at_step = 1000, .factor = 27.3},
                         {.kind = throttle, .at_s = 1, .bits_per_second = 12345}}};
  const auto small = shrink(plan, [](const fault_plan& p) {
    return has(p, [](const fault& f) { return f.kind == drop && f.at_s + *f.lasts_s > 4 && f.rate >= 0.1; })
           && has(p, [](const fault& f) { return f.kind == slow && f.factor > 4 && *f.at_step >= 100; })
           && has(p, [](const fault& f) { return f.kind == throttle && f.bits_per_second < 50'000; });
  });
  EXPECT_EQ(small.faults[0].at_s, 0);
  EXPECT_EQ(small.faults[0].lasts_s, 5);
  EXPECT_EQ(small.faults[0].rate, 0.1);
  EXPECT_EQ(small.faults[1].at_step, 125u);
  EXPECT_GT(small.faults[1].factor, 4);
  EXPECT_LE(small.faults[1].factor, 8);
  EXPECT_EQ(small.faults[2].at_s, 0);
  EXPECT_GE(small.faults[2].bits_per_second, 20'000);
}

/// True for plans with a certain hash of their text, so failure depends on every part of a plan. False for the empty
/// plan.
bool fails_by_chance(const fault_plan& plan) {
  std::uint64_t hash = 14695981039346656037u;
  for (const char c : to_toml(plan))
    hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return !plan.faults.empty() && hash >> 62 == 0;
}

TEST(shrink, kills_fewer_coordinators_and_rather_workers_than_processes) {
  const auto some_coordinators = [](const fault_plan& p) {
    return !p.faults.empty() && p.faults[0].coordinators.value_or(0) >= 2;
  };
  EXPECT_EQ(shrink({{{.kind = fault_kind::kill, .coordinators = 5}}}, some_coordinators).faults[0].coordinators, 2u);
  const auto any = [](const fault_plan& p) { return !p.faults.empty(); };
  EXPECT_FALSE(shrink({{{.kind = fault_kind::kill, .workers = {1}, .processes = true}}}, any).faults[0].processes);
}

TEST(shrink, is_deterministic_bounded_and_always_ends_with_a_failure) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const auto plan = draw_plan(seed, {.workers = 8});
    for (const std::size_t most : {0u, 1u, 7u, 200u}) {
      std::size_t attempts = 0;
      const still_fails counted = [&](const fault_plan& p) {
        ++attempts;
        EXPECT_NO_THROW(check(p, 8, 1)) << to_toml(p);
        return fails_by_chance(p);
      };
      const auto small = shrink(plan, counted, {.max_attempts = most, .workers = 8});
      EXPECT_LE(attempts, most);
      EXPECT_TRUE(small == plan || fails_by_chance(small));
      EXPECT_EQ(shrink(plan, fails_by_chance, {.max_attempts = most, .workers = 8}), small);
    }
  }
}

TEST(shrink, tries_no_plan_twice_and_tells_of_each) {
  std::set<std::string> tried;
  std::size_t told = 0;
  shrink_options options;
  options.workers = 8;
  options.on_attempt = [&](std::size_t attempt, const fault_plan& plan, bool fails) {
    EXPECT_EQ(attempt, ++told);
    EXPECT_EQ(fails, fails_by_chance(plan));
  };
  const auto predicate = [&](const fault_plan& plan) {
    EXPECT_TRUE(tried.insert(to_toml(plan)).second);
    return fails_by_chance(plan);
  };
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    tried.clear();
    told = 0;
    shrink(draw_plan(seed, {.workers = 8}), predicate, options);
    EXPECT_EQ(told, tried.size());
  }
}

TEST(shrink, leaves_nothing_that_could_go) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const auto plan = draw_plan(seed, {.workers = 8});
    const auto kinds = [](const fault_plan& p) {
      std::set<fault_kind> found;
      for (const auto& f : p.faults)
        found.insert(f.kind);
      return found;
    };
    const auto all = kinds(plan);
    const auto small = shrink(plan, [&](const fault_plan& p) { return kinds(p) == all; }, {.workers = 8});
    EXPECT_EQ(small.faults.size(), all.size()) << to_toml(small);
    for (const auto& f : small.faults) {
      EXPECT_EQ(f.at_s, 0);
      EXPECT_LE(f.workers.size() + f.nodes.size(), 1u);
      EXPECT_LE(f.from.size(), 1u);
      EXPECT_LE(f.to.size(), 1u);
    }
  }
}

} // namespace
} // namespace gossamer::actors
