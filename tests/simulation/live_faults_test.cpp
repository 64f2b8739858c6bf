// Runs that somebody watches, and strikes while they go on.
#include "gossamer/actors/simulated/simulated_world.hpp"

#include <gmock/gmock.h>

#include <algorithm>

#include "quadratic_run.hpp"

namespace gossamer::actors {
namespace {

using testing::ElementsAre;
using testing::Pair;
using testing_support::quadratic_run;

/// Wishes for faults at moments of the run, as somebody would who watches it.
class meddler final : public run_observer {
public:
  explicit meddler(std::shared_ptr<fault_wishes> wishes) : wishes_(std::move(wishes)) {}

  void on_progress(const progress_record& r) override {
    if (r.time_s >= 0.35 && next_ == 0) {
      next_ = 1;
      wishes_->add({.kind = fault_kind::kill, .workers = {2}});
      wishes_->add({.kind = fault_kind::slow, .workers = {1}, .lasts_s = 0.4, .factor = 3});
    }
    if (r.time_s >= 0.95 && next_ == 1) {
      next_ = 2;
      wishes_->heal();
    }
    if (r.time_s >= 1.25 && next_ == 2) {
      next_ = 3;
      wishes_->add({.kind = fault_kind::drop, .lasts_s = 0.25, .rate = 0.2});
    }
  }

private:
  std::shared_ptr<fault_wishes> wishes_;
  int next_ = 0;
};

class live_faults : public testing::TestWithParam<const char*> {};

TEST_P(live_faults, are_repeated_to_the_same_hash_by_the_plan_that_they_leave) {
  const auto e = prepare(quadratic_run(GetParam(), 4, 2000));
  const simulation_settings s{.sample_time_s = 1e-4};
  const auto wishes = std::make_shared<fault_wishes>();
  meddler meddles{wishes};
  run_surroundings around{.observer = &meddles, .faults = {.faults = {}, .live = true}, .wishes = wishes};
  const auto struck = simulate(e, s, around);
  const auto plan = wishes->plan();
  ASSERT_EQ(plan.faults.size(), 3u);
  EXPECT_GT(struck.frames_lost, 0u);
  EXPECT_EQ(struck.summary.lost, 1u);
  EXPECT_EQ(struck.summary.returned, 1u) << "who was dead comes back when all is healed";
  EXPECT_NEAR(plan.faults[0].at_s, 0.4, 0.11);
  EXPECT_NEAR(plan.faults[0].lasts_s.value(), 0.6, 0.11) << "the end that healing gave it";

  const auto text = to_toml(plan);
  const auto again = simulate(e, s, {.faults = parse_plan(text, "plan")});
  EXPECT_EQ(again.hash, struck.hash) << text;
  EXPECT_EQ(again.events, struck.events);
}

INSTANTIATE_TEST_SUITE_P(algorithms, live_faults, testing::Values("d-psgd", "ad-psgd", "all-reduce-sgd", "async-sgd"),
                         [](const auto& info) {
                           std::string name{info.param};
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

/// Keeps what it is told of members and workers.
class onlooker final : public run_observer {
public:
  bool watches_workers() const override { return true; }
  void on_view(const view_record& r) override { views.push_back(r); }
  void on_workers(workers_record r) override { counts.push_back(std::move(r)); }
  void on_event(const event_record& r) override { kinds.push_back(r.kind); }

  std::vector<view_record> views;
  std::vector<workers_record> counts;
  std::vector<event_kind> kinds;
};

TEST(an_observer_of_workers, sees_members_links_counts_and_waits) {
  onlooker seen;
  run_surroundings around{.observer = &seen};
  around.faults.faults.push_back({.kind = fault_kind::kill, .workers = {2}, .at_s = 0.5});
  const auto result = simulate(prepare(quadratic_run("d-psgd", 4, 2000)), {.sample_time_s = 1e-4}, around);
  ASSERT_EQ(seen.views.size(), 2u);
  EXPECT_THAT(seen.views[0].members, ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(seen.views[0].edges, ElementsAre(Pair(0, 1), Pair(0, 3), Pair(1, 2), Pair(2, 3)));
  EXPECT_THAT(seen.views[0].nodes, ElementsAre(0, 0, 0, 0));
  EXPECT_THAT(seen.views[1].members, ElementsAre(0, 1, 3));
  EXPECT_THAT(seen.views[1].edges, ElementsAre(Pair(0, 1), Pair(0, 3), Pair(1, 3))) << "the ring is closed again";
  EXPECT_THAT(seen.kinds, ElementsAre(event_kind::fault, event_kind::loss));

  ASSERT_GE(seen.counts.size(), 2u);
  std::uint64_t payload = 0;
  for (rank i = 0; i < 4; ++i) {
    EXPECT_EQ(seen.counts.back().of[i].steps, result.summary.steps_per_worker[i]);
    payload += seen.counts.back().of[i].payload_bits;
  }
  EXPECT_EQ(payload, result.summary.final.payload_bits);
  EXPECT_TRUE(std::ranges::any_of(seen.counts, [](const auto& c) { return !c.waits.value().empty(); }));
}

TEST(an_observer_of_workers, sees_what_goes_over_each_link_and_what_time_is_used_for) {
  onlooker seen;
  const auto result = simulate(prepare(quadratic_run("d-psgd", 4, 2000)), {.sample_time_s = 1e-4}, {.observer = &seen});
  const auto& links = seen.counts.at(1).links;
  ASSERT_EQ(links.size(), 8u) << "a ring, both ways";
  for (const auto& l : links)
    EXPECT_EQ(l.bits_per_second, links.front().bits_per_second) << l.from << " to " << l.to;
  const auto& last = seen.counts.back();
  for (rank i = 0; i < 4; ++i)
    for (const auto what : activities)
      EXPECT_EQ(last.used.at(i).of(what), result.time_used[i].of(what)) << i << to_string(what);
  EXPECT_GT(last.used[0].of(activity::waiting), 0);
  ASSERT_FALSE(last.waited.empty());
  EXPECT_GE(last.waited.front().ns, last.waited.back().ns);
}

TEST(an_observer_of_workers, sees_masters_in_the_middle) {
  onlooker seen;
  simulate(prepare(quadratic_run("async-sgd", 3, 200)), {}, {.observer = &seen});
  ASSERT_EQ(seen.views.size(), 1u);
  EXPECT_THAT(seen.views[0].members, ElementsAre(0, 1, 2));
  EXPECT_THAT(seen.views[0].masters, ElementsAre(3));
  EXPECT_THAT(seen.views[0].edges, ElementsAre(Pair(0, 3), Pair(1, 3), Pair(2, 3)));
}

TEST(an_observer_of_workers, changes_no_run) {
  onlooker seen;
  const auto e = prepare(quadratic_run("ad-psgd", 6, 300));
  EXPECT_EQ(simulate(e, {}, {.observer = &seen}).hash, simulate(e, {}).hash);
}

} // namespace
} // namespace gossamer::actors
