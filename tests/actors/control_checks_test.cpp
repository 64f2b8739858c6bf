// An impossible message costs the node that says it, and no other.
#include "gossamer/actors/faults/plan.hpp"
#include "gossamer/actors/node/control_checks.hpp"
#include "gossamer/base/philox.hpp"
#include "gossamer/testing/effort.hpp"

#include <gmock/gmock.h>

#include <limits>
#include <typeinfo>

#include "control_storm.hpp"

namespace gossamer::actors {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing_support::damage_to;
using testing_support::door_messages;
using testing_support::honest_nodes;
using testing_support::node_messages;
using speaker = honest_nodes::speaker;

std::function<std::uint64_t()> draws(std::uint64_t seed) {
  return [random = std::make_shared<random_sequence>(random_stream{seed, 0, purpose::chaos}, 0)] {
    return random->below(std::numeric_limits<std::uint32_t>::max());
  };
}

void expect_others_unharmed(const honest_nodes& nodes) {
  for (std::uint32_t number = 0; number < honest_nodes::honest; ++number)
    EXPECT_TRUE(nodes.lives(number)) << "node " << number << ": " << nodes.broken();
  EXPECT_EQ(nodes.broken(), "");
}

/// True if any value of the message makes sense.
template <class Message>
constexpr bool makes_sense = one_of<Message, heartbeat, begin_run, leave_request, snapshot_request>;

/// Draws a message that the liar may not say. Returns `nullopt` if many tries have brought none.
template <class Message>
std::optional<Message> nonsense(honest_nodes& nodes, std::uint32_t to) {
  for (int tries = 0; tries < 2000; ++tries)
    if (const auto m = nodes.draw<Message>(to); !nodes.objection_to(m, to).empty())
      return m;
  return std::nullopt;
}

template <class Message>
void expect_it_costs_the_liar(std::uint64_t seed, std::uint32_t to) {
  SCOPED_TRACE(testing::Message() << typeid(Message).name() << ", seed " << seed << ", to node " << to);
  honest_nodes nodes{"d-psgd", draws(seed)};
  const auto m = nonsense<Message>(nodes, to);
  ASSERT_EQ(m.has_value(), !makes_sense<Message>);
  if (!m)
    return;
  const auto why = nodes.objection_to(*m, to);
  nodes.say(speaker::liar, to, *m);
  expect_others_unharmed(nodes);
  EXPECT_FALSE(nodes.liar_lives()) << why;
  EXPECT_THAT(nodes.told(), Contains(HasSubstr(why)));
}

TEST(a_process_that_has_just_come, is_not_asked_for_the_models_of_the_one_before) {
  honest_nodes nodes{"d-psgd", draws(1)};
  std::vector<life> founders;
  for (rank i = 0; i < honest_nodes::workers; ++i)
    founders.push_back({i, 0});
  const mean_request asked{.number = 1, .evaluation = 1, .root = 0, .lives = ranges_of(founders)};
  nodes.say(speaker::liar, 2, asked);
  EXPECT_EQ(nodes.evaluations(), 1) << "a founder";
  nodes.say_to_newcomer(2, asked);
  EXPECT_EQ(nodes.evaluations(), 1) << "as a former leader may, which has not heard of another process there";
  expect_others_unharmed(nodes);
}

TEST(a_process_that_has_just_come, knows_the_time_of_a_run_that_goes_on_from_a_checkpoint) {
  honest_nodes nodes{"d-psgd", draws(1)};
  auto next = nodes.last(0);
  ++next.what.number;
  next.leader = 2;
  next.nodes[2].life = consensus::seats::most_candidates; // the newcomer's
  auto from = std::make_shared<resumption>();
  from->all.time_s = 60;
  nodes.say_to_newcomer(2, consensus::proceed{next}, 100, from);
  EXPECT_THAT(nodes.told(), Contains("node 2 leads the run from now on"));
  EXPECT_NEAR(nodes.shown_at_s(), 100, 1e-6) << "that before the checkpoint is part of it";
}

TEST(a_process_that_waits_for_the_plan, is_not_sent_away_by_nonsense) {
  caf::actor_system_config config;
  caf::actor_system system{config.set("scheduler.policy", caf::atom("testing"))};
  auto& scheduler = dynamic_cast<caf::scheduler::test_coordinator&>(system.scheduler());
  std::vector<std::string> orders;
  const auto listens = [](caf::event_based_actor*, std::vector<std::string>* all) -> caf::behavior {
    return {[all](const leave_run& m) { all->push_back(m.why); }};
  };
  const auto client = system.spawn(listens, &orders);
  const auto node = spawn_node_later(
      system, [](const cluster_plan&) { return node_setup{}; }, client);
  const auto say = [&](const leave_run& m) {
    caf::anon_send(node, m);
    scheduler.run();
    return orders.size();
  };
  EXPECT_EQ(say({.why = std::string((1 << 16) + 1, 'x')}), 0u);
  EXPECT_EQ(say({.why = "", .code = static_cast<errc>(99)}), 0u);
  EXPECT_EQ(say({.why = "it has failed"}), 1u);
  caf::anon_send_exit(client, caf::exit_reason::kill);
  scheduler.run();
}

TEST(nonsense, costs_the_node_that_says_it_and_no_other) {
  for (std::uint64_t seed = 1; seed <= test::tries(4); ++seed)
    for (std::uint32_t to = 0; to < 2; ++to) // node 0 leads
      node_messages::for_each([&]<class Message>(Message*) { expect_it_costs_the_liar<Message>(seed, to); });
}

TEST(nonsense, of_strangers_is_left_aside) {
  for (std::uint64_t seed = 1; seed <= test::tries(4); ++seed)
    node_messages::for_each([&]<class Message>(Message*) {
      SCOPED_TRACE(testing::Message() << typeid(Message).name() << ", seed " << seed);
      honest_nodes nodes{"d-psgd", draws(seed)};
      for (const auto by : {speaker::stranger, speaker::nobody})
        if (const auto m = nonsense<Message>(nodes, 0); m && !makes_sense<Message>) {
          nodes.say(by, 0, *m);
          EXPECT_EQ(nodes.broken(), "");
          EXPECT_TRUE(nodes.liar_lives()) << "it has not said that";
        }
    });
}

TEST(nonsense, is_heard_once) {
  honest_nodes nodes{"d-psgd", draws(1)};
  nodes.say(speaker::liar, 1, node_lost{.node = 9, .why = "it does not answer"});
  const auto told = nodes.told().size();
  nodes.say(speaker::liar, 1, node_lost{.node = 9, .why = "it does not answer"});
  nodes.say(speaker::liar, 1, heartbeat{});
  EXPECT_EQ(nodes.told().size(), told);
  for (int k = 0; k < 50; ++k)
    nodes.pass_time();
  expect_others_unharmed(nodes);
  EXPECT_FALSE(nodes.last(0).what.view.lives.contains(honest_nodes::liar)) << "its worker takes part no more";
}

TEST(the_failure_of_a_part, is_not_believed_of_others_than_nodes_that_take_part) {
  honest_nodes nodes{"d-psgd", draws(1)};
  const run_failed failure{errc::failed, "the evaluation died", {}};
  for (int k = 0; k < 500; ++k) // the liar says nothing, and is left out
    nodes.pass_time();
  ASSERT_FALSE(nodes.last(0).what.view.lives.contains(honest_nodes::liar));
  for (const auto by : {speaker::liar, speaker::stranger, speaker::nobody})
    for (std::uint32_t to = 0; to < honest_nodes::honest; ++to)
      nodes.say(by, to, failure);
  for (std::uint32_t number = 0; number < honest_nodes::honest; ++number)
    EXPECT_EQ(nodes.failure(number), "") << "node " << number;
}

TEST(the_failure_of_a_part, of_a_node_that_takes_part_ends_the_run) {
  honest_nodes nodes{"d-psgd", draws(1)};
  nodes.say(speaker::liar, 0, run_failed{errc::failed, "the evaluation died", {}});
  EXPECT_EQ(nodes.failure(0), "the evaluation died");
}

TEST(the_failure_of_a_part, ends_a_run_whose_leader_has_not_started_yet) {
  honest_nodes nodes{"d-psgd", draws(1)};
  nodes.say_before_the_start(run_failed{errc::bad_data, "checkpoint 2 has no state for worker 3", {}});
  EXPECT_EQ(nodes.failure(0), "checkpoint 2 has no state for worker 3");
}

/// Lets time pass until a condition holds. @returns false if it has not in some minutes
bool comes_to(honest_nodes& nodes, const std::function<bool()>& condition) {
  for (int k = 0; k < 20'000 && !condition(); ++k)
    nodes.pass_time();
  return condition();
}

TEST(the_end_of_a_run, is_told_to_a_node_that_was_given_up_and_may_live) {
  honest_nodes nodes{"d-psgd", draws(1)};
  ASSERT_TRUE(comes_to(nodes, [&] { return testing::Matches(Contains(HasSubstr("node 3 is lost")))(nodes.told()); }));
  nodes.end(0);
  EXPECT_EQ(nodes.farewells(), 1);
  for (std::uint32_t number = 0; number < honest_nodes::honest; ++number)
    EXPECT_FALSE(nodes.lives(number)) << "node " << number << ": nobody waits until the silent one has left";
}

TEST(a_connection, that_ends_between_two_followers_costs_one_of_them_the_run_for_a_while) {
  honest_nodes nodes{"d-psgd", draws(1)};
  const auto lives = [&](std::uint32_t reporter, rank i) {
    return nodes.last(reporter).what.view.lives.contains(i); // rank i is on node i
  };
  nodes.break_connection(1, 2);
  EXPECT_TRUE(comes_to(nodes, [&] { return lives(0, 1) != lives(0, 2); })) << "the leader reaches both";
  EXPECT_TRUE(comes_to(nodes, [&] { return lives(0, 1) && lives(0, 2) && lives(1, 2) && lives(2, 1); }));
  EXPECT_FALSE(comes_to(nodes, [&] { return lives(0, 1) != lives(0, 2); })) << "it is heard of once";
  EXPECT_THAT(nodes.told(), Contains(HasSubstr("is lost: its connection has ended")));
  expect_others_unharmed(nodes);
}

TEST(news_of_a_worker, is_believed_if_that_worker_says_it) {
  honest_nodes nodes{"d-psgd", draws(1)};
  nodes.say(speaker::liar, 0, node_lost{.node = 9, .why = "nonsense"}); // nobody waits for it any more
  nodes.say(speaker::stranger, 0, worker_lost{.who = 0, .incarnation = 0});
  for (int k = 0; k < 50; ++k)
    nodes.pass_time();
  EXPECT_TRUE(nodes.last(0).what.view.lives.contains(0));
  expect_others_unharmed(nodes);
}

TEST(news_of_a_worker, that_stands_still_is_not_that_it_has_a_state) {
  honest_nodes nodes{"d-psgd", draws(1)};
  nodes.say(speaker::liar, 1, consensus::hold{{1, honest_nodes::liar, 0}, nodes.last(1)});
  nodes.say(speaker::stranger, 1, worker_joined{1, 0, 5});
  expect_others_unharmed(nodes);
}

TEST(an_error, that_somebody_sends_ends_nobody) {
  honest_nodes nodes{"d-psgd", draws(1)};
  const auto refusal = caf::make_error(caf::sec::unexpected_message);
  for (const auto by : {speaker::liar, speaker::stranger, speaker::nobody})
    nodes.say(by, 0, refusal);
  nodes.say_at_the_door(refusal);
  expect_others_unharmed(nodes);
  EXPECT_TRUE(nodes.liar_lives());
  EXPECT_TRUE(nodes.door_lives());
}

TEST(a_worker, that_nobody_can_start_is_not_wished_for_without_a_pause) {
  honest_nodes nodes{"ad-psgd", draws(1)};
  nodes.say(speaker::liar, 0, worker_lost{.who = honest_nodes::liar, .incarnation = 0});
  nodes.say(speaker::liar, 0, worker_waits{honest_nodes::liar});
  // The node is lost for its nonsense, and only it could start the worker.
  nodes.say(speaker::liar, 0, node_lost{.node = 9, .why = "nonsense"});
  EXPECT_FALSE(nodes.liar_lives());
  EXPECT_LT(nodes.last(0).number(), 10u);
  expect_others_unharmed(nodes);
}

TEST(any_control_message, leaves_honest_nodes_alone) {
  constexpr const char* algorithms[] = {"d-psgd", "ad-psgd", "parameter-server-sgd"};
  for (std::uint64_t seed = 1; seed <= test::tries(300); ++seed) {
    const auto draw = draws(seed);
    honest_nodes nodes{algorithms[seed % std::size(algorithms)], draw};
    testing_support::storm(nodes, draw, 40);
    ASSERT_EQ(damage_to(nodes), "") << "seed " << seed;
  }
}

std::string refusal(const auto& check_message) {
  try {
    check_message();
    return "accepted";
  } catch (const error& e) {
    EXPECT_EQ(e.code(), errc::bad_packet);
    return e.sentence();
  }
}

TEST(control_checks, do_not_take_counts_that_overflow) {
  const honest_nodes nodes{"d-psgd", draws(1)};
  checkpoint_complete saved;
  saved.whole.workers = honest_nodes::workers;
  EXPECT_EQ(nodes.objection_to(saved, 1), "");
  for (const double steps : {std::numeric_limits<double>::quiet_NaN(), -1.0, 1e300}) {
    saved.whole.steps = steps;
    EXPECT_THAT(nodes.objection_to(saved, 1), HasSubstr("counts further than anybody can")) << steps;
  }
  saved.whole.steps = 0;
  for (const double time_s : {std::numeric_limits<double>::quiet_NaN(), -1.0, 1e10}) {
    saved.whole.time_s = time_s;
    EXPECT_THAT(nodes.objection_to(saved, 1), HasSubstr("a time that never is")) << time_s;
  }
  run_books books;
  books.counted = ledger{honest_nodes::workers};
  EXPECT_EQ(nodes.objection_to(books, 1), "");
  constexpr auto all_bits = std::numeric_limits<std::uint64_t>::max();
  for (const auto& [steps, bits] : {std::pair{all_bits, std::uint64_t{0}}, std::pair{std::uint64_t{0}, all_bits}}) {
    books.counted = ledger{honest_nodes::workers};
    books.counted.record(0, 0, steps, {.payload_bits = bits});
    books.counted.record(0, 1, 1, {.payload_bits = 1}); // makes the sums overflow
    EXPECT_THAT(nodes.objection_to(books, 1), HasSubstr("counts further than anybody can"));
  }
}

TEST(control_checks, do_not_take_a_life_that_no_leader_can_have_given) {
  honest_nodes nodes{"d-psgd", draws(1)};
  greeting m;
  const auto is_the_liars = [&] {
    m = nodes.draw<greeting>(0);
    m.node = honest_nodes::liar;
    m.self = {};
    return nodes.objection_to(m, 0).empty();
  };
  while (!is_the_liars()) { // draws another handle
  }
  const auto resolutions = nodes.last(0).number();
  m.self.life = (resolutions + 1) * consensus::seats::most_candidates - 1;
  EXPECT_EQ(nodes.objection_to(m, 0), "");
  for (const auto life : {m.self.life + 1, std::numeric_limits<std::uint32_t>::max()}) {
    m.self.life = life;
    EXPECT_THAT(nodes.objection_to(m, 0), HasSubstr("a life that nobody can have given")) << life;
  }
}

TEST(control_checks, of_what_is_said_before_a_run_say_what_is_wrong) {
  EXPECT_EQ(refusal([] { check(join_request{}); }), "accepted");
  EXPECT_THAT(refusal([] { check(join_request{.slots = 0}); }), HasSubstr("asks for 0 slots"));
  EXPECT_THAT(refusal([] { check(node_ready{}); }), HasSubstr("names no actor"));
  EXPECT_EQ(refusal([] { check(run_offer{}); }), "accepted");
  run_offer empty_nodes, long_path;
  empty_nodes.workers_per_node = 0;
  long_path.folder.assign(5000, 'x');
  EXPECT_THAT(refusal([&] { check(empty_nodes); }), HasSubstr("nodes without workers"));
  EXPECT_THAT(refusal([&] { check(long_path); }), HasSubstr("a text that nobody"));
  run_offer long_plan, longer_plan;
  long_plan.faults.assign(most_plan_bytes, ' ');
  longer_plan.faults.assign(most_plan_bytes + 1, ' ');
  EXPECT_EQ(refusal([&] { check(long_plan); }), "accepted") << "a leader reads such a plan";
  EXPECT_THAT(refusal([&] { check(longer_plan); }), HasSubstr("a text that nobody"));
  run_offer resumed, of_nobody, of_a_stranger, of_too_many;
  resumed.from = {.checkpoint = 5, .workers = 2, .parts = {{1, {}}}};
  of_nobody.from = {.checkpoint = 5};
  of_a_stranger.from = {.checkpoint = 5, .workers = 2, .parts = {{7, {}}}};
  of_too_many.from = {.checkpoint = 5, .workers = std::numeric_limits<std::uint64_t>::max()};
  EXPECT_EQ(refusal([&] { check(resumed); }), "accepted");
  EXPECT_THAT(refusal([&] { check(of_nobody); }), HasSubstr("a checkpoint of nobody"));
  EXPECT_THAT(refusal([&] { check(of_a_stranger); }), HasSubstr("a worker that there is not"));
  EXPECT_THAT(refusal([&] { check(of_too_many); }), HasSubstr("more workers than there can be"));
  EXPECT_THAT(refusal([] { check(cluster_plan{}, 0, 4); }), HasSubstr("another number of workers"));
}

} // namespace
} // namespace gossamer::actors
