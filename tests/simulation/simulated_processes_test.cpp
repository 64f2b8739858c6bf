// Nodes of the simulated world that are processes of their own, and runs in which some of them die.
#include "gossamer/actors/real_time/local_world.hpp"
#include "gossamer/actors/simulated/simulated_world.hpp"
#include "gossamer/actors/simulation/auditor.hpp"

#include <gmock/gmock.h>

#include <map>
#include <set>
#include <span>

#include "expect.hpp"
#include "lawful_run.hpp"

namespace gossamer::actors {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing_support::events;
using testing_support::growing_run;
using testing_support::lawful_run;
using testing_support::refusal;

constexpr double step_s = 0.04; // a step of lawful_run, with the sample time below

simulation_settings apart(std::uint64_t interleaving = 0) {
  simulation_settings s;
  s.processes = true;
  s.sample_time_s = 0.01;
  s.detection_s = 0.002;
  s.interleaving = interleaving;
  return s;
}

fault_plan one(fault f) { return {{std::move(f)}}; }

TEST(simulated_processes, come_to_the_same_bits_as_one_when_nobody_dies) {
  for (const char* algorithm : {"all-reduce-sgd", "d-psgd", "marsit", "ef-sign-sgd", "cser"}) {
    const auto e = prepare(lawful_run(algorithm));
    auto together = apart();
    together.processes = false;
    const auto expected = simulate(e, together).summary.final, found = simulate(e, apart()).summary.final;
    EXPECT_EQ(found.train_loss, expected.train_loss) << algorithm;
    EXPECT_EQ(found.consensus_distance, expected.consensus_distance) << algorithm;
    EXPECT_EQ(found.payload_bits, expected.payload_bits) << algorithm;
    EXPECT_EQ(found.wire_bits, expected.wire_bits) << algorithm;
  }
}

TEST(simulated_processes, share_a_node_and_its_fate) {
  auto s = apart();
  s.workers_per_node = 2;
  const auto e = prepare(lawful_run("d-psgd"));
  const auto result =
      simulate(e, s, {.faults = one({.kind = fault_kind::kill, .workers = {5}, .at_s = 2, .processes = true})});
  const auto& steps = result.summary.steps_per_worker;
  EXPECT_EQ(result.summary.lost, 2u);
  EXPECT_LT(steps[4], 60u);
  EXPECT_LT(steps[5], 60u);
  EXPECT_EQ(steps[3], 200u);
}

TEST(simulated_processes, elect_another_one_that_ends_the_run_when_the_leader_dies) {
  for (const char* algorithm : {"d-psgd", "all-reduce-sgd", "ad-psgd", "async-sgd"}) {
    events seen;
    const auto result =
        simulate(prepare(lawful_run(algorithm)), apart(),
                 {.observer = &seen, .faults = one({.kind = fault_kind::kill, .at_s = 2, .coordinators = 1})});
    EXPECT_EQ(result.summary.end, run_end::planned) << algorithm;
    ASSERT_THAT(seen.all(), Contains("node 1 leads the run from now on")) << algorithm;
    EXPECT_NEAR(seen.at["node 1 leads the run from now on"], 2, 0.1) << algorithm;
    EXPECT_GT(result.summary.steps_per_worker[7], 150u) << algorithm;
  }
}

// A node that stands for election must notice that it waits for a dead node, even for one that it has never met.
TEST(simulated_processes, elect_another_one_though_one_that_has_no_vote_dies_with_the_leader) {
  for (const double at_s : {0.0, 2.0}) {
    fault_plan plan;
    plan.faults.push_back({.kind = fault_kind::kill, .workers = {7}, .at_s = at_s, .processes = true});
    plan.faults.push_back({.kind = fault_kind::kill, .at_s = at_s, .coordinators = 1});
    EXPECT_EQ(simulate(prepare(lawful_run("d-psgd")), apart(), {.faults = plan}).summary.end, run_end::planned) << at_s;
  }
}

TEST(simulated_processes, come_and_leave) {
  fault_plan plan;
  plan.faults.push_back({.kind = fault_kind::join, .workers = {8, 9}, .at_s = 1, .processes = true});
  plan.faults.push_back({.kind = fault_kind::leave, .workers = {2}, .at_s = 2, .lasts_s = 1, .processes = true});
  plan.faults.push_back({.kind = fault_kind::leave, .workers = {0}, .at_s = 4, .processes = true}); // the leader
  plan.faults.push_back({.kind = fault_kind::leave, .workers = {8}, .at_s = 6, .processes = true});
  plan.faults.push_back({.kind = fault_kind::join, .workers = {0, 5}, .at_s = 7, .processes = true});
  events seen;
  const auto result = simulate(growing_run("d-psgd"), apart(), {.observer = &seen, .faults = plan});
  EXPECT_EQ(result.summary.end, run_end::planned);
  EXPECT_EQ(result.summary.lost, 0u);
  for (const char* what : {"node 8 has come", "node 9 has come", "node 2 leaves", "node 2 is back", "node 0 leaves",
                           "node 8 leaves", "node 0 is back", "worker 2 has left; 9 go on"})
    EXPECT_THAT(seen.all(), Contains(what));
  EXPECT_THAT(seen.all(), testing::Not(Contains("node 5 is back"))) << "it was there";
}

// A process that is not let in tries again a second later. If the plan starts it meanwhile, it must not be started a
// second time.
TEST(simulated_processes, come_once_though_they_are_told_to_twice) {
  auto s = apart();
  s.process_patience_s = 1.5;
  fault_plan plan;
  plan.faults.push_back({.kind = fault_kind::partition, .workers = {8}, .at_s = 0.1, .lasts_s = 3.0});
  plan.faults.push_back({.kind = fault_kind::join, .workers = {8}, .at_s = 1, .processes = true});
  plan.faults.push_back({.kind = fault_kind::join, .workers = {8}, .at_s = 3, .processes = true});
  plan.faults.push_back({.kind = fault_kind::leave, .workers = {8}, .at_s = 6.5, .processes = true});
  events seen;
  const auto result = simulate(growing_run("d-psgd"), s, {.observer = &seen, .faults = plan});
  EXPECT_EQ(result.summary.lost, 0u);
  EXPECT_EQ(result.summary.returned, 1u);
  EXPECT_THAT(seen.all(), Contains("node 8 leaves")) << "the plan strikes the start that was let in";
}

fault death_of(rank who, double at_s, std::optional<double> lasts_s = std::nullopt) {
  return {.kind = fault_kind::kill, .workers = {who}, .at_s = at_s, .lasts_s = lasts_s, .processes = true};
}

// A candidate that dies changes nothing, even if nodes have heard of another candidate meanwhile and a new leader
// leads.
TEST(simulated_processes, have_a_place_for_whoever_comes_after_a_candidate_that_has_died) {
  auto s = apart();
  s.prepare_s = 0.3;
  fault_plan plan;
  plan.faults = {death_of(5, 1), death_of(6, 1)};
  plan.faults.push_back({.kind = fault_kind::join, .workers = {5}, .at_s = 1.5, .processes = true});
  plan.faults.push_back({.kind = fault_kind::join, .workers = {6}, .at_s = 1.6, .processes = true});
  plan.faults.push_back(death_of(5, 1.7));
  plan.faults.push_back({.kind = fault_kind::kill, .at_s = 2.2, .coordinators = 1});
  plan.faults.push_back({.kind = fault_kind::join, .workers = {5}, .at_s = 2.5, .processes = true});
  for (const char* algorithm : {"ad-psgd", "d-psgd"}) {
    events seen;
    const auto result = simulate(prepare(lawful_run(algorithm)), s, {.observer = &seen, .faults = plan});
    EXPECT_THAT(seen.all(), Contains("node 6 is back")) << algorithm;
    EXPECT_THAT(seen.all(), Contains("node 5 is back")) << algorithm;
    EXPECT_NEAR(seen.at["node 5 is back"], 2.8, 0.2) << algorithm;
    EXPECT_EQ(result.summary.returned, 2u) << algorithm;
  }
}

// The leader dies before, while, or after all nodes agree on the newcomer.
TEST(simulated_processes, take_in_who_was_let_in_by_a_leader_that_has_died) {
  for (double at_s = 1.8; at_s < 1.83; at_s += 0.0005) {
    auto s = apart();
    s.prepare_s = 0.3;
    s.network = "wan";
    fault_plan plan;
    plan.faults = {death_of(5, 1)};
    plan.faults.push_back({.kind = fault_kind::join, .workers = {5}, .at_s = 1.5, .processes = true});
    plan.faults.push_back({.kind = fault_kind::kill, .at_s = at_s, .coordinators = 1});
    const auto result = simulate(prepare(lawful_run("ad-psgd")), s, {.faults = plan});
    EXPECT_EQ(result.summary.returned, 1u) << at_s;
  }
}

// To a new leader the updates of the time before, which it learns from books, are not those of one gradient.
TEST(simulated_processes, measure_staleness_anew_under_a_new_leader) {
  const auto plan = one({.kind = fault_kind::kill, .at_s = 2.5, .coordinators = 1});
  const auto ages = simulate(prepare(lawful_run("ad-psgd")), apart(), {.faults = plan}).summary.staleness;
  EXPECT_LT(ages.rbegin()->first, 40u); // the others have done hundreds of updates before
}

// The auditor checks that counts never go back, also under a leader that has just come.
TEST(simulated_processes, count_on_when_one_leads_that_has_just_come) {
  for (const char* algorithm : {"ad-psgd", "async-sgd", "d-psgd"})
    for (const double later_s : {0.01, 0.05, 0.2, 0.45}) {
      auto run = lawful_run(algorithm);
      run.eval_every = 0.1;
      fault_plan plan;
      plan.faults = {death_of(1, 1, 0.5)};
      plan.faults.push_back({.kind = fault_kind::kill, .at_s = 1.5 + later_s, .coordinators = 1});
      const auto result = simulate(prepare(run), apart(), {.faults = plan});
      std::uint64_t steps = 0;
      for (const auto of_one : result.summary.steps_per_worker)
        steps += of_one;
      EXPECT_EQ(result.summary.final.step, steps) << algorithm;
      EXPECT_GE(result.summary.unreported, 2u) << algorithm << ": worker 1, and that of the leader";
    }
}

TEST(simulated_processes, repeat_themselves_and_tell_interleavings_apart) {
  const auto e = prepare(lawful_run("ad-psgd"));
  fault_plan plan;
  plan.faults.push_back({.kind = fault_kind::kill, .at_s = 1, .lasts_s = 0.5, .coordinators = 2});
  plan.faults.push_back({.kind = fault_kind::partition, .workers = {2, 3}, .at_s = 3, .lasts_s = 1});
  std::set<std::uint64_t> hashes;
  for (const std::uint64_t interleaving : {0u, 1u, 2u}) {
    auto s = apart(interleaving);
    s.jitter = "exponential";
    const auto first = simulate(e, s, {.faults = plan}), second = simulate(e, s, {.faults = plan});
    EXPECT_EQ(first.hash, second.hash);
    EXPECT_EQ(first.events, second.events);
    hashes.insert(first.hash);
  }
  EXPECT_EQ(hashes.size(), 3u);
}

TEST(simulated_processes, take_part_again_when_they_are_started_again) {
  for (const char* algorithm : {"d-psgd", "all-reduce-sgd", "ad-psgd"})
    for (const rank who : {0u, 3u}) {
      events seen;
      const auto result = simulate(
          prepare(lawful_run(algorithm)), apart(),
          {.observer = &seen,
           .faults = one({.kind = fault_kind::kill, .workers = {who}, .at_s = 1, .lasts_s = 1, .processes = true})});
      EXPECT_EQ(result.summary.returned, 1u) << algorithm << ' ' << who;
      EXPECT_THAT(seen.all(), Contains("node " + std::to_string(who) + " is back")) << algorithm;
      EXPECT_GT(result.summary.steps_per_worker[who], 120u) << algorithm << ' ' << who; // 25 steps before its death
    }
}

/// Notes the last step in which a worker has sent a frame.
struct noting_link final : link {
  noting_link(std::map<rank, std::uint64_t>& last, std::unique_ptr<link> inner)
      : last_(last), inner_(std::move(inner)) {}
  void send(frame f) override {
    auto& newest = last_[f.source];
    newest = std::max(newest, f.label.step);
    inner_->send(std::move(f));
  }
  std::map<rank, std::uint64_t>& last_;
  std::unique_ptr<link> inner_;
};

// Three of seven voters are cut off. The others wait for them as long as patience lasts, and then go on.
TEST(simulated_processes, take_no_synchronous_step_where_few_are_left) {
  constexpr double at_s = 2;
  std::map<rank, std::uint64_t> last;
  const auto result =
      simulate(prepare(lawful_run("d-psgd")), apart(),
               {.faults = one({.kind = fault_kind::partition, .workers = {0, 1, 2}, .at_s = at_s, .lasts_s = 40.0}),
                .wrap_link = [&](rank, rank, std::unique_ptr<link> inner) {
                  return std::make_unique<noting_link>(last, std::move(inner));
                }});
  EXPECT_EQ(result.summary.end, run_end::planned);
  for (const rank i : {0u, 1u, 2u})
    EXPECT_LE(last[i], at_s / step_s + 3) << i; // steps under way, of one neighbour after another
  for (const rank i : {3u, 4u, 5u, 6u, 7u})
    EXPECT_GE(last[i], 199u) << i;
}

TEST(simulated_processes, go_on_together_after_a_short_partition) {
  for (const char* algorithm : {"d-psgd", "ad-psgd", "async-sgd"}) {
    const auto result =
        simulate(prepare(lawful_run(algorithm)), apart(),
                 {.faults = one({.kind = fault_kind::partition, .workers = {0, 1, 2}, .at_s = 2, .lasts_s = 5.0})});
    EXPECT_EQ(result.summary.end, run_end::planned) << algorithm;
    EXPECT_EQ(result.summary.lost, 0u) << algorithm;
  }
}

TEST(simulated_processes, are_taken_back_when_they_are_heard_again) {
  auto s = apart();
  s.process_patience_s = 1.5;
  for (const char* algorithm : {"d-psgd", "ad-psgd", "async-sgd", "asy-lpg", "cser"}) {
    SCOPED_TRACE(algorithm);
    events seen;
    const auto result =
        simulate(prepare(lawful_run(algorithm)), s,
                 {.observer = &seen,
                  .faults = one({.kind = fault_kind::partition, .workers = {1, 6}, .at_s = 2, .lasts_s = 4.0})});
    EXPECT_EQ(result.summary.end, run_end::planned);
    EXPECT_EQ(result.summary.lost, 2u);
    EXPECT_EQ(result.summary.returned, 2u);
    for (const char* what : {"node 1 is heard again", "node 6 is heard again"})
      EXPECT_THAT(seen.all(), Contains(what));
  }
}

TEST(simulated_processes, do_not_go_by_what_a_former_leader_asked_for_while_it_was_not_heard) {
  auto settings = lawful_run("cser-pl");
  settings.eval_every = 0.02;
  for (std::uint64_t interleaving = 1; interleaving <= 30; ++interleaving) {
    SCOPED_TRACE(interleaving);
    auto s = apart(interleaving);
    s.process_patience_s = 1.5;
    const fault cut{.kind = fault_kind::partition, .workers = {0}, .at_s = 0.7, .lasts_s = 2.0, .one_way = true};
    EXPECT_EQ(simulate(prepare(settings), s, {.faults = one(cut)}).summary.end, run_end::planned);
  }
}

/// Wraps an algorithm, and counts how often a life takes over the model that the life before has learnt alone.
class noting_algorithm final : public algorithm {
public:
  explicit noting_algorithm(std::unique_ptr<algorithm> inner) : inner_(std::move(inner)) {}
  task<> run(worker& w) override { return inner_->run(w); }
  void fields(archive& a) override { inner_->fields(a); }
  void inherit(worker& w) override { inner_->inherit(w); }
  void reunite(const vec& learnt) override {
    ++reunions;
    const vec before = inner_->model();
    inner_->reunite(learnt);
    for (std::size_t k = 0; k < before.size(); ++k)
      EXPECT_FLOAT_EQ(inner_->model()[k], (before[k] + learnt[k]) / 2);
  }
  const vec& model() const override { return inner_->model(); }

  static inline int reunions = 0;

private:
  std::unique_ptr<algorithm> inner_;
};

TEST(simulated_processes, bring_along_what_they_have_learnt_alone) {
  auto entry = algorithms().find("ad-psgd");
  entry.make = [](const algorithm_setup& s) -> std::unique_ptr<algorithm> {
    return std::make_unique<noting_algorithm>(algorithms().find("ad-psgd").make(s));
  };
  auto s = apart();
  s.process_patience_s = 1.5;
  const auto e = prepare(lawful_run("ad-psgd"), {.algorithms = {"algorithm", std::span{&entry, 1}}});
  const fault cut{.kind = fault_kind::partition, .workers = {1, 6}, .at_s = 2, .lasts_s = 4.0};
  EXPECT_EQ(simulate(e, s, {.faults = one(cut)}).summary.returned, 2u);
  EXPECT_EQ(noting_algorithm::reunions, 2);
  const fault death{.kind = fault_kind::kill, .workers = {1, 6}, .at_s = 2, .lasts_s = 4.0};
  EXPECT_EQ(simulate(e, s, {.faults = one(death)}).summary.returned, 2u);
  EXPECT_EQ(noting_algorithm::reunions, 2) << "the dead have learnt nothing";
}

// A leader that is cut off must not end the others when the partition is over. Nor may it act on its own beliefs alone
// while it hears no node but is heard.
TEST(simulated_processes, survive_that_whoever_leads_is_cut_off) {
  auto s = apart();
  s.process_patience_s = 1.5;
  for (const double lasts_s : {1.7, 2.0, 4.0, 20.0}) {
    events seen;
    const auto result =
        simulate(prepare(lawful_run("d-psgd")), s,
                 {.observer = &seen,
                  .faults = one({.kind = fault_kind::partition, .workers = {0}, .at_s = 0.5, .lasts_s = lasts_s})});
    EXPECT_EQ(result.summary.end, run_end::planned) << lasts_s;
    EXPECT_THAT(seen.all(), Contains("node 1 leads the run from now on")) << lasts_s;
  }
  const auto result = simulate(
      prepare(lawful_run("d-psgd")), s,
      {.faults = one(
           {.kind = fault_kind::partition, .workers = {1, 3, 4, 6}, .at_s = 0.5, .lasts_s = 4.0, .one_way = true})});
  EXPECT_EQ(result.summary.end, run_end::planned);
}

TEST(simulated_processes, end_with_one_sentence_when_most_of_those_are_dead_that_vote) {
  const auto e = prepare(lawful_run("d-psgd"));
  const auto end = [&](std::uint64_t count) {
    try {
      simulate(e, apart(), {.faults = one({.kind = fault_kind::kill, .at_s = 1, .coordinators = count})});
    } catch (const broken_promise& broken) {
      ADD_FAILURE() << broken.what();
    } catch (const error& over) {
      EXPECT_EQ(over.code(), errc::failed);
      return std::string{over.what()};
    }
    return std::string{};
  };
  EXPECT_EQ(end(3), "");
  EXPECT_THAT(end(4), HasSubstr("most of the 7 nodes that vote on who takes part are lost"));
}

TEST(simulated_processes, go_on_from_what_a_worker_remembers_when_a_master_dies_with_its_state) {
  for (const char* algorithm : {"async-sgd", "async-sgd:shards=3", "parameter-server-sgd", "eamsgd", "asy-lpg",
                                "acc-asy-lpg:output=iterate", "halp"}) {
    const auto e = prepare(lawful_run(algorithm));
    testing_support::evaluations calm, struck;
    const auto end_s = simulate(e, apart(), {.observer = &calm}).summary.final.time_s;
    const auto at_s = 0.6 * end_s;
    const auto plan =
        one({.kind = fault_kind::kill, .workers = {8}, .at_s = at_s, .lasts_s = 0.1 * end_s, .processes = true});
    const auto result = simulate(e, apart(), {.observer = &struck, .faults = plan});
    EXPECT_EQ(result.summary.end, run_end::planned) << algorithm;
    EXPECT_EQ(result.summary.returned, 1u) << algorithm;
    const auto first = calm.records.front().train_loss, last = calm.records.back().train_loss;
    for (const auto& r : struck.records)
      if (r.time_s > at_s) {
        EXPECT_LT(r.train_loss, last + 0.1 * (first - last)) << algorithm << " at " << r.time_s;
      }
  }
}

// A run cannot go on without its master. That is a limit, not a broken promise.
TEST(simulated_processes, wait_in_vain_for_a_master_that_nobody_starts_again) {
  const auto e = prepare(lawful_run("async-sgd"));
  const auto plan = one({.kind = fault_kind::kill, .workers = {8}, .at_s = 1, .processes = true});
  EXPECT_THAT(refusal([&] { simulate(e, apart(), {.faults = plan}); }, errc::failed),
              HasSubstr("master 0 is lost with its process; nobody takes its place"));
}

TEST(simulated_processes, are_there_to_be_killed_in_the_simulated_world_only) {
  const auto e = prepare(lawful_run("d-psgd"));
  const auto plan = one({.kind = fault_kind::kill, .at_s = 1, .coordinators = 1});
  EXPECT_THAT(refusal([&] { run_locally(e, {.faults = plan}); }),
              HasSubstr("which only the simulated world has in its hands"));
}

} // namespace
} // namespace gossamer::actors
