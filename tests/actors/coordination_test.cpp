// The coordination among parties that do nothing but follow it: every order of events in tiny runs, drawn ones in
// larger ones. Messages of one party to another keep their order; deaths, returns, pauses and a stop come at any
// moment.
#include "gossamer/actors/runtime/coordination.hpp"
#include "gossamer/base/philox.hpp"

#include <gmock/gmock.h>

#include <string>
#include <unordered_set>

#include "parties.hpp"
#include "small_run.hpp"

namespace gossamer::actors {
namespace {

struct explored {
  std::size_t states = 0, ends = 0, failures = 0;
};

/// Every order of events. States that were seen before are not followed again.
explored explore(const experiment& e, mischief may) {
  explored all;
  std::unordered_set<std::string> seen;
  std::vector<parties> open{{e, may}};
  while (!open.empty() && !testing::Test::HasFailure()) {
    auto w = std::move(open.back());
    open.pop_back();
    const auto next = w.over() ? std::vector<std::function<void(parties&)>>{} : w.possible();
    for (const auto& move : next) {
      auto copy = w;
      move(copy);
      if (seen.insert(copy.bytes()).second)
        open.push_back(std::move(copy));
    }
    if (next.empty()) {
      w.be_patient();
      ++(std::holds_alternative<end_run>(w.ended()) ? all.ends : all.failures);
    }
  }
  all.states = seen.size();
  return all;
}

std::shared_ptr<const experiment> run_of(const std::string& algorithm, std::size_t workers, std::uint64_t steps) {
  return small_run(algorithm, algorithm.starts_with("a") && algorithm != "ad-psgd" ? "ring" : "star", workers, steps);
}

class every_kind_of_run : public testing::TestWithParam<const char*> {};

TEST_P(every_kind_of_run, ends_whatever_the_order_of_events) {
  const bool masters = std::string{GetParam()}.starts_with("async-sgd");
  const auto run = run_of(GetParam(), masters ? 1 : 2, 1);
  for (const auto may : {mischief{}, mischief{.stops = 1}, mischief{.deaths = 1, .returns = 1}, mischief{.deaths = 2},
                         mischief{.deaths = 1, .stops = 1}, mischief{.pauses = 1, .stops = 1}}) {
    const auto all = explore(*run, may);
    ASSERT_FALSE(HasFailure()) << all.states << " states; deaths " << may.deaths << ", returns " << may.returns
                               << ", stops " << may.stops;
    EXPECT_GT(all.ends, 0u);
    EXPECT_TRUE(all.failures == 0 || may.deaths > 0 || may.pauses > 0);
  }
}

TEST_P(every_kind_of_run, ends_after_any_mischief) {
  std::size_t ends = 0;
  for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
    random_sequence draw{{seed, 0, purpose::interleaving}, 0};
    const auto run = run_of(GetParam(), 2 + draw.below(3), 1 + draw.below(3));
    parties w{*run, {draw.below(5), draw.below(5), draw.below(2), draw.below(2)}};
    for (auto all = w.possible(); !all.empty() && !w.over(); all = w.possible()) {
      all[draw.below(static_cast<std::uint32_t>(all.size()))](w);
      if (draw.below(8) == 0)
        w.save_and_restore();
    }
    w.be_patient();
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
    ends += std::holds_alternative<end_run>(w.ended());
  }
  EXPECT_GT(ends, 1000u);
}

INSTANTIATE_TEST_SUITE_P(, every_kind_of_run,
                         testing::Values("d-psgd", "all-reduce-sgd", "ad-psgd", "async-sgd", "async-sgd:shards=2"));

// -- single stories ---------------------------------------------------------------------------------------------------

template <class Order>
const Order* find(const orders& all) {
  for (const auto& o : all)
    if (const auto* found = std::get_if<Order>(&o))
      return found;
  return nullptr;
}

TEST(coordination, starts_all_masters_anew_that_die_while_it_collects) {
  const auto run = run_of("async-sgd:shards=2", 1, 1);
  coordination c{*run};
  c.on(run_progress{1});
  orders last;
  for (rank i = 0; i < 3; ++i)
    last = c.on(worker_finished{i, 0});
  const auto* first = find<snapshot_request>(last);
  ASSERT_TRUE(first);
  const auto first_collection = first->evaluation;
  EXPECT_EQ(first_collection, coordination::first_final);
  const auto one = c.on(worker_lost{1, 0});
  EXPECT_TRUE(find<start_worker>(one)) << "its model is needed";
  EXPECT_TRUE(c.running());
  const auto other = c.on(worker_lost{2, 0});
  EXPECT_TRUE(find<start_worker>(other));
  c.on(worker_finished{1, 1});
  const auto* second = find<snapshot_request>(last = c.on(worker_finished{2, 1}));
  ASSERT_TRUE(second);
  EXPECT_EQ(second->evaluation, coordination::first_final + 1);
  EXPECT_FALSE(c.awaits({0, 0, first_collection})) << "of the first collection";
  EXPECT_TRUE(c.on(model_came{0, 0, second->evaluation}).empty());
  EXPECT_TRUE(c.on(model_came{1, 1, second->evaluation}).empty());
  EXPECT_TRUE(find<end_run>(c.on(model_came{2, 1, second->evaluation})));
}

TEST(coordination, gives_a_paused_worker_up_after_ten_seconds_and_its_model_after_one_more) {
  const auto run = run_of("d-psgd", 3, 5);
  coordination c{*run};
  const auto* hold = find<hold_steps>(c.on(stop_run{run_end::interrupted, 2}));
  ASSERT_TRUE(hold);
  for (const rank i : {0u, 2u})
    EXPECT_TRUE(c.on(holding{i, 0, 1, 3, 3}).empty()) << "worker 1 has not answered";
  EXPECT_TRUE(c.on(time_is{11.9}).empty());
  const auto asked = c.on(time_is{12});
  const auto* request = find<snapshot_request>(asked);
  ASSERT_TRUE(request);
  for (const rank i : {0u, 2u})
    EXPECT_TRUE(c.on(model_came{i, 0, request->evaluation}).empty());
  EXPECT_TRUE(c.on(time_is{12.9}).empty());
  const auto done = c.on(time_is{13});
  const auto* end = find<end_run>(done);
  ASSERT_TRUE(end);
  EXPECT_EQ(end->why, run_end::interrupted);
  EXPECT_EQ(end->unfinished, 3u);
  EXPECT_THAT(end->missing, testing::ElementsAre(1));
}

TEST(coordination, fails_when_nobody_answers_a_stop) {
  const auto run = run_of("d-psgd", 2, 5);
  coordination c{*run};
  c.on(stop_run{run_end::seconds, 0});
  EXPECT_TRUE(find<snapshot_request>(c.on(time_is{10})));
  EXPECT_TRUE(c.on(time_is{19.9}).empty());
  EXPECT_TRUE(find<run_failed>(c.on(time_is{20})));
  EXPECT_TRUE(c.over());
}

TEST(coordination, an_interrupt_counts_also_when_all_updates_are_done) {
  const auto run = run_of("ad-psgd", 2, 1);
  coordination c{*run};
  c.on(run_progress{2});
  c.on(worker_finished{0, 0}); // worker 1 is paused
  EXPECT_TRUE(c.on(time_is{1000}).empty()) << "nobody is in a hurry";
  c.on(stop_run{run_end::interrupted, 1000});
  const auto asked = c.on(time_is{1010});
  const auto* request = find<snapshot_request>(asked);
  ASSERT_TRUE(request);
  c.on(model_came{0, 0, request->evaluation});
  const auto done = c.on(time_is{1011});
  ASSERT_TRUE(find<end_run>(done));
  EXPECT_EQ(find<end_run>(done)->why, run_end::interrupted);
}

} // namespace
} // namespace gossamer::actors
