// The coordination of a node that hosts all workers and masters, among parties that do nothing but follow it: every
// order of events in tiny runs, drawn orders in larger ones. Messages of one party to another keep their order. Deaths,
// returns, pauses, checkpoints and a stop come at any moment.
#include "gossamer/actors/agreement/coordination.hpp"
#include "gossamer/actors/evaluation/progress_meter.hpp"
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

/// Explores every order of events. States that were seen before are not followed again.
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
  for (const auto may :
       {mischief{}, mischief{.stops = 1}, mischief{.deaths = 1, .returns = 1}, mischief{.deaths = 2},
        mischief{.deaths = 1, .stops = 1}, mischief{.pauses = 1, .stops = 1}, mischief{.deaths = 1, .saves = 1}}) {
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
    parties w{*run, {draw.below(5), draw.below(5), draw.below(2), draw.below(2), draw.below(3)}};
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

/// Returns the first order of one type in a list of any kind of orders.
template <class Order, class Orders>
std::optional<Order> find(const Orders& all) {
  for (const auto& o : all)
    if (const auto* found = std::get_if<Order>(&o))
      return *found;
  return std::nullopt;
}

/// The only node of a run, which leads.
struct lone_node {
  explicit lone_node(std::shared_ptr<const experiment> e)
      : run(std::move(e)),
        rules(charter_of(*run, 1, std::vector<std::uint32_t>(run->participants()), std::chrono::seconds(10))),
        node(*run, *rules, 0, founding_of(*run, *rules, {{0, {}}})) {
    node.begin();
  }

  std::shared_ptr<const experiment> run;
  std::shared_ptr<const consensus::charter> rules;
  node_protocol node;
};

TEST(coordination, has_no_planned_end_where_only_the_time_ends_a_run) {
  const auto all_done = run_progress{std::numeric_limits<std::uint64_t>::max()};
  const auto planned = run_of("ad-psgd", 2, 5);
  coordination ends{*planned, consensus::founding({0, 0}, {0}, 10)};
  EXPECT_TRUE(find<consensus::wish>(ends.on(all_done)));
  auto settings = planned->settings;
  settings.steps.reset();
  settings.seconds = 10;
  const auto endless = prepare(settings);
  coordination goes_on{*endless, consensus::founding({0, 0}, {0}, 10)};
  EXPECT_TRUE(goes_on.on(all_done).empty()) << "whatever a node reports";
}

TEST(progress_meter, does_not_believe_steps_that_nobody_can_have_done) {
  const auto e = run_of("ad-psgd", 2, 10);
  progress_meter meter{*e};
  meter.count({.source = 0, .step = 20});
  EXPECT_EQ(meter.updates(), 20u) << "one may have done all of them";
  meter.count({.source = 1, .step = 21});
  meter.count({.source = 1, .step = std::uint64_t{1} << 60});
  EXPECT_EQ(meter.updates(), 20u);
}

TEST(coordination, starts_all_masters_anew_that_die_while_it_collects) {
  lone_node here{run_of("async-sgd:shards=2", 1, 1)};
  auto& n = here.node;
  n.in_leader(run_progress{1});
  node_protocol::orders last;
  for (rank i = 0; i < 3; ++i)
    last = n.on(worker_finished{i, 0});
  const auto first = find<snapshot_request>(last);
  ASSERT_TRUE(first);
  EXPECT_GE(first->evaluation, coordination::first_final);
  const auto one = find<start_worker>(n.on(worker_lost{1, 0}));
  ASSERT_TRUE(one) << "its model is needed";
  EXPECT_TRUE(n.leader()->running());
  const auto other = find<start_worker>(n.on(worker_lost{2, 0}));
  ASSERT_TRUE(other);
  n.on(worker_finished{1, one->incarnation});
  const auto second = find<snapshot_request>(n.on(worker_finished{2, other->incarnation}));
  ASSERT_TRUE(second);
  EXPECT_GT(second->evaluation, first->evaluation);
  EXPECT_FALSE(n.leader()->awaits({0, 0, first->evaluation})) << "of the first collection";
  EXPECT_TRUE(n.in_leader(model_came{0, 0, second->evaluation}).empty());
  EXPECT_TRUE(n.in_leader(model_came{1, one->incarnation, second->evaluation}).empty());
  EXPECT_TRUE(find<end_run>(n.in_leader(model_came{2, other->incarnation, second->evaluation})));
}

TEST(coordination, gives_a_paused_worker_up_after_ten_seconds_and_its_model_after_one_more) {
  lone_node here{run_of("d-psgd", 3, 5)};
  auto& n = here.node;
  const auto hold = find<hold_steps>(n.in_leader(stop_run{run_end::interrupted, 2}));
  ASSERT_TRUE(hold);
  for (const rank i : {0u, 2u})
    EXPECT_TRUE(n.on(worker_holds{i, 0, hold->round, 3, 3}).empty()) << "worker 1 has not answered";
  EXPECT_TRUE(n.on(time_is{11.9}).empty());
  const auto request = find<snapshot_request>(n.on(time_is{12}));
  ASSERT_TRUE(request);
  for (const rank i : {0u, 2u})
    EXPECT_TRUE(n.in_leader(model_came{i, 0, request->evaluation}).empty());
  EXPECT_TRUE(n.on(time_is{12.9}).empty());
  const auto end = find<end_run>(n.on(time_is{13}));
  ASSERT_TRUE(end);
  EXPECT_EQ(end->why, run_end::interrupted);
  EXPECT_EQ(end->unfinished, 3u);
  EXPECT_THAT(end->missing, testing::ElementsAre(1));
}

TEST(coordination, fails_when_nobody_answers_a_stop) {
  lone_node here{run_of("d-psgd", 2, 5)};
  auto& n = here.node;
  n.in_leader(stop_run{run_end::seconds, 0});
  EXPECT_TRUE(find<snapshot_request>(n.on(time_is{10})));
  EXPECT_TRUE(n.on(time_is{19.9}).empty());
  EXPECT_TRUE(find<run_failed>(n.on(time_is{20})));
  EXPECT_TRUE(n.leader()->over());
}

TEST(coordination, starts_a_master_anew_when_nobody_waits_for_the_fault_plan_any_more) {
  lone_node here{run_of("async-sgd", 1, 5)};
  auto& n = here.node;
  n.on(kill_worker{1, true});
  EXPECT_FALSE(find<start_worker>(n.on(worker_lost{1, 0}))) << "the plan will";
  n.in_leader(stop_run{run_end::seconds, 0});
  EXPECT_TRUE(n.on(time_is{9.9}).empty());
  auto late = n.on(time_is{10});
  const auto again = find<start_worker>(n.on(find<restart_worker>(late).value()));
  ASSERT_TRUE(again);
  EXPECT_EQ(again->who, 1u);
  late = n.on(time_is{10.1});
  const auto request = find<snapshot_request>(late);
  ASSERT_TRUE(request);
  n.in_leader(model_came{0, 0, request->evaluation});
  const auto end = find<end_run>(n.in_leader(model_came{1, again->incarnation, request->evaluation}));
  ASSERT_TRUE(end) << "its model is needed, and has come";
  EXPECT_EQ(end->unfinished, 2u);
}

TEST(coordination, does_not_wait_for_who_comes_back_when_all_have_finished) {
  lone_node here{run_of("d-psgd", 2, 5)};
  auto& n = here.node;
  n.on(kill_worker{1, true});
  const auto hold = find<hold_steps>(n.on(worker_lost{1, 0}));
  ASSERT_TRUE(hold);
  const auto request = find<snapshot_request>(n.on(worker_finished{0, 0})); // worker 0 has not read the question yet
  ASSERT_TRUE(request);
  n.on(restart_worker{1});
  n.on(worker_holds{0, 0, hold->round, 5, 5});
  const auto end = find<end_run>(n.in_leader(model_came{0, 0, request->evaluation}));
  ASSERT_TRUE(end);
  EXPECT_EQ(end->unfinished, 0u);
  EXPECT_TRUE(end->missing.empty());
}

TEST(coordination, an_interrupt_counts_also_when_all_updates_are_done) {
  lone_node here{run_of("ad-psgd", 2, 1)};
  auto& n = here.node;
  n.in_leader(run_progress{2});
  n.on(worker_finished{0, 0}); // worker 1 is paused
  EXPECT_TRUE(n.on(time_is{1000}).empty()) << "nobody is in a hurry";
  n.in_leader(stop_run{run_end::interrupted, 1000});
  const auto request = find<snapshot_request>(n.on(time_is{1010}));
  ASSERT_TRUE(request);
  n.in_leader(model_came{0, 0, request->evaluation});
  const auto end = find<end_run>(n.on(time_is{1011}));
  ASSERT_TRUE(end);
  EXPECT_EQ(end->why, run_end::interrupted);
}

TEST(coordination, keeps_the_end_that_the_run_has_come_to_when_its_workers_die_afterwards) {
  lone_node here{run_of("d-psgd", 2, 1)};
  auto& n = here.node;
  n.on(worker_lost{0, 0}); // raises a question that worker 1 has not answered
  const auto request = find<snapshot_request>(n.on(worker_finished{1, 0}));
  ASSERT_TRUE(request);
  EXPECT_TRUE(find<end_run>(n.in_leader(model_came{1, 0, request->evaluation})));
  EXPECT_FALSE(find<run_failed>(n.on(worker_lost{1, 0}))) << "its model has come";
}

// -- the coordination alone -------------------------------------------------------------------------------------------

/// The first resolution of three workers, and possible next ones.
struct agreed {
  std::shared_ptr<const experiment> run = run_of("d-psgd", 3, 5);
  consensus::resolution first = consensus::founding({0, 1, 2}, {0}, 5);

  consensus::resolution next(std::map<rank, std::uint32_t> lives) const {
    auto r = first;
    ++r.what.number;
    r.what.view = {2, 1, std::move(lives), {}};
    return r;
  }
};

TEST(coordination, wishes_again_when_a_resolution_names_a_life_that_has_ended) {
  const agreed a;
  coordination c{*a.run, a.first};
  std::vector<std::pair<rank, std::uint32_t>> forgotten;
  const auto on = [&](const auto& event) {
    auto orders = c.on(event);
    for (const auto& o : orders)
      if (const auto* m = std::get_if<forget_worker>(&o))
        forgotten.emplace_back(m->who, m->incarnation);
    return orders;
  };
  EXPECT_TRUE(find<consensus::wish>(on(worker_lost{1, 0})));
  auto same_view = a.first;
  ++same_view.what.number;
  EXPECT_TRUE(find<consensus::wish>(on(same_view))) << "that was agreed on for something else";
  const auto outdated = a.next({{0, 0}, {1, 0}});
  EXPECT_TRUE(find<consensus::wish>(on(outdated))) << "its node has said that it lives before it died";
  EXPECT_FALSE(c.members().alive(1));
  EXPECT_EQ(c.members().population(), 1u);
  auto last = a.next({{0, 0}});
  ++last.what.number;
  ++last.what.view.number;
  EXPECT_FALSE(find<consensus::wish>(on(last)));
  EXPECT_THAT(forgotten, testing::ElementsAre(testing::Pair(1u, 0u), testing::Pair(2u, 0u))) << "each of them once";
}

TEST(coordination, repeats_a_wish_every_second_until_it_is_met) {
  const agreed a;
  coordination c{*a.run, a.first};
  c.on(time_is{100});
  EXPECT_TRUE(find<consensus::wish>(c.on(stop_run{run_end::planned}))->stop);
  EXPECT_TRUE(c.on(time_is{100.9}).empty()) << "it is being agreed on";
  for (const double s : {101.0, 102.1}) {
    const auto again = find<consensus::wish>(c.on(time_is{s}));
    ASSERT_TRUE(again) << s;
    EXPECT_TRUE(again->stop);
    EXPECT_TRUE(c.on(time_is{s + 0.9}).empty());
  }
  auto met = a.next(a.first.what.view.lives);
  met.stopping = true;
  EXPECT_TRUE(c.on(met).empty());
  EXPECT_TRUE(c.on(time_is{200}).empty());
  const auto waits = find<consensus::wish>(c.on(worker_waits{2}));
  ASSERT_TRUE(waits);
  EXPECT_FALSE(waits->stop) << "they stop already";
  EXPECT_TRUE(c.on(time_is{200.5}).empty());
  EXPECT_TRUE(find<consensus::wish>(c.on(time_is{201})));
}

TEST(coordination, has_states_saved_while_the_run_goes_on) {
  const agreed a;
  coordination c{*a.run, a.first};
  const auto wanted = find<consensus::wish>(c.on(checkpoint_due{}));
  ASSERT_TRUE(wanted);
  EXPECT_TRUE(wanted->save && !wanted->stop);
  c.on(stop_run{run_end::planned});
  EXPECT_TRUE(c.on(checkpoint_due{}).empty()) << "the last one comes when all have finished";

  const auto other = run_of("ad-psgd", 2, 5);
  coordination asynchronous{*other, consensus::founding({0, 0}, {0}, 10)};
  EXPECT_EQ(find<save_checkpoint>(asynchronous.on(checkpoint_due{}))->number, 1u) << "they are numbered by orders";
  EXPECT_EQ(find<save_checkpoint>(asynchronous.on(checkpoint_due{}))->number, 2u);
}

TEST(coordination, goes_on_under_a_later_leader_where_the_last_resolution_says) {
  const agreed a;
  auto last = a.next({{0, 0}, {2, 2}});
  last.stopping = true;
  last.why = run_end::seconds;
  coordination before{*a.run, a.first}, c{*a.run, last};
  for (rank i = 0; i < 2; ++i)
    EXPECT_TRUE(before.on(worker_finished{i, 0}).empty());
  const auto of_the_first_leader = find<snapshot_request>(before.on(worker_finished{2, 0}));
  EXPECT_TRUE(c.on(worker_finished{0, 0}).empty());
  EXPECT_TRUE(c.on(worker_finished{2, 0}).empty()) << "of a former life";
  const auto request = find<snapshot_request>(c.on(worker_finished{2, 2}));
  ASSERT_TRUE(request && of_the_first_leader);
  EXPECT_GT(request->evaluation, of_the_first_leader->evaluation) << "or answers to both would be taken for the same";
  c.on(model_came{0, 0, request->evaluation});
  const auto end = find<end_run>(c.on(model_came{2, 2, request->evaluation}));
  ASSERT_TRUE(end);
  EXPECT_EQ(end->why, run_end::seconds);
}

TEST(coordination, gives_steps_up_under_a_later_leader_that_was_not_told_to_stop) {
  const agreed a;
  auto last = a.next(a.first.what.view.lives);
  last.stopping = true;
  for (const auto why : {run_end::interrupted, run_end::planned}) {
    last.why = why;
    coordination c{*a.run, last};
    c.on(worker_finished{0, 0}); // the others stand still
    EXPECT_TRUE(c.on(time_is{100}).empty()) << "it leads from now on";
    EXPECT_TRUE(c.on(time_is{109.9}).empty());
    const auto request = find<snapshot_request>(c.on(time_is{110}));
    ASSERT_EQ(request.has_value(), why == run_end::interrupted) << "nobody is in a hurry where all is done as planned";
    if (!request)
      continue;
    c.on(model_came{0, 0, request->evaluation});
    const auto end = find<end_run>(c.on(time_is{111}));
    ASSERT_TRUE(end);
    EXPECT_EQ(end->why, run_end::interrupted);
    EXPECT_EQ(end->unfinished, 2u);
  }
}

TEST(coordination, fails_when_all_models_are_lost_but_for_those_that_have_come) {
  const agreed a;
  coordination running{*a.run, a.first};
  EXPECT_TRUE(find<run_failed>(running.on(consensus::models_are_lost{})));
  for (const bool one_has_come : {false, true}) {
    coordination c{*a.run, a.next({{0, 0}, {1, 0}})};
    c.on(worker_finished{0, 0});
    const auto request = find<snapshot_request>(c.on(worker_finished{1, 0}));
    ASSERT_TRUE(request);
    if (one_has_come)
      c.on(model_came{0, 0, request->evaluation});
    const auto end = c.on(consensus::models_are_lost{});
    EXPECT_EQ(find<end_run>(end).has_value(), one_has_come);
    EXPECT_EQ(find<run_failed>(end).has_value(), !one_has_come);
    EXPECT_TRUE(c.on(consensus::models_are_lost{}).empty()) << "it is over";
  }
}

} // namespace
} // namespace gossamer::actors
