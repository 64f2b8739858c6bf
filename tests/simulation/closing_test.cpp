// The end of runs in which a failure happens during the end.
#include "gossamer/actors/simulated/simulated_world.hpp"
#include "gossamer/base/error.hpp"
#include "gossamer/testing/spellings.hpp"

#include <gmock/gmock.h>

#include <set>

#include "lawful_run.hpp"

namespace gossamer::actors {
namespace {

using testing::HasSubstr;

run_settings tiny_run(const std::string& algorithm, std::size_t workers, std::uint64_t steps) {
  run_settings s;
  s.algorithm = algorithm;
  s.model = "quadratic";
  s.data = "quadratic:samples=40,dim=4";
  s.workers = workers;
  s.batch = 2;
  s.steps = steps;
  s.lr = 0.01;
  return s;
}

/// Returns all algorithms with masters, with one master, and with several if they allow that.
std::vector<std::string> algorithms_with_masters() {
  std::vector<std::string> all;
  for (const auto& entry : algorithms()) {
    if (!entry.masters)
      continue;
    all.emplace_back(entry.about.name);
    for (const auto& p : entry.about.parameters)
      if (std::string{p.key} == "shards")
        for (const char* more : {"2", "3"})
          all.push_back(std::string{entry.about.name} + ":shards=" + more);
  }
  return all;
}

class every_algorithm_with_masters : public testing::TestWithParam<std::string> {};

TEST_P(every_algorithm_with_masters, ends_whoever_dies_near_the_end) {
  const auto e = prepare(tiny_run(GetParam(), 2, 3));
  simulation_settings s;
  s.detection_s = 0.001;
  s.patience_s = 5;
  std::vector<rank> masters;
  for (std::size_t k = 0; k < e->masters; ++k)
    masters.push_back(static_cast<rank>(2 + k));
  auto with_worker = masters;
  with_worker.insert(with_worker.begin(), 0);
  const double end_s = simulate(e, s).summary.final.time_s;
  std::uint64_t lost = 0;
  for (const auto& victims : {masters, with_worker, std::vector<rank>{0}, std::vector<rank>{masters.back()}})
    for (const auto back_after_s : {std::optional<double>{}, std::optional{0.0005}})
      for (int k = 0; k < 24; ++k) {
        const double at_s = end_s * (0.7 + 0.025 * k);
        fault_plan plan;
        plan.faults.push_back({.kind = fault_kind::kill, .workers = victims, .at_s = at_s, .lasts_s = back_after_s});
        try {
          const auto summary = simulate(e, s, {.faults = plan}).summary;
          EXPECT_EQ(summary.end, run_end::planned);
          EXPECT_EQ(summary.unfinished, 0u);
          lost += summary.lost;
        } catch (const error& hang) {
          ADD_FAILURE() << hang.what() << '\n' << to_toml(plan);
        }
      }
  EXPECT_GT(lost, 24u) << "hardly anybody has died before the end";
}

INSTANTIATE_TEST_SUITE_P(, every_algorithm_with_masters, testing::ValuesIn(algorithms_with_masters()),
                         [](const auto& named) { return testing_support::as_test_name(named.param); });

TEST(closing, waits_ten_seconds_for_who_stands_still_and_one_for_its_model) {
  struct events final : run_observer {
    void on_event(const event_record& r) override { all += r.what + '\n'; }
    std::string all;
  };
  for (const char* algorithm : {"d-psgd", "all-reduce-sgd", "ad-psgd", "async-sgd"}) {
    events seen;
    run_surroundings around{.observer = &seen};
    around.faults.faults.push_back({.kind = fault_kind::pause, .workers = {0}, .at_s = 0.5});
    auto settings = tiny_run(algorithm, 4, 1);
    settings.steps.reset();
    settings.seconds = 2;
    const auto summary = simulate(prepare(settings), {}, around).summary;
    EXPECT_EQ(summary.end, run_end::seconds) << algorithm;
    EXPECT_GE(summary.unfinished, 1u) << algorithm;
    EXPECT_NEAR(summary.final.time_s, 13, 0.3) << algorithm;
    EXPECT_THAT(seen.all, HasSubstr("worker 0 does not answer; its model is left out")) << algorithm;
  }
}

TEST(closing, does_without_a_fault_plan_that_brings_a_master_back_too_late) {
  run_surroundings around;
  around.faults.faults.push_back({.kind = fault_kind::kill, .workers = {4}, .at_s = 0.5, .lasts_s = 1e5});
  auto settings = tiny_run("async-sgd", 4, 1);
  settings.steps.reset();
  settings.seconds = 2;
  const auto summary = simulate(prepare(settings), {}, around).summary;
  EXPECT_EQ(summary.end, run_end::seconds);
  EXPECT_NEAR(summary.final.time_s, 12, 0.3);
}

TEST(closing, fails_when_a_master_keeps_its_model) {
  run_surroundings around;
  around.faults.faults.push_back({.kind = fault_kind::pause, .workers = {4}, .at_s = 0.5});
  auto settings = tiny_run("async-sgd", 4, 1);
  settings.steps.reset();
  settings.seconds = 2;
  EXPECT_THROW(
      try { simulate(prepare(settings), {}, around); } catch (const error& late) {
        EXPECT_THAT(late.what(), HasSubstr("the models to be evaluated have not come"));
        throw;
      },
      error);
}

// -- slow runs that do not hang ---------------------------------------------------------------------------------------

simulation_settings impatient(const std::string& network) {
  simulation_settings s;
  s.network = network;
  s.patience_s = 5;
  return s;
}

TEST(patience, does_not_end_while_a_frame_is_on_its_way) {
  const auto result = simulate(prepare(tiny_run("all-reduce-sgd", 4, 3)), impatient("uniform:bandwidth=10"));
  EXPECT_EQ(result.summary.end, run_end::planned);
  EXPECT_GT(result.summary.final.time_s, 100);
}

TEST(patience, does_not_end_while_a_gradient_is_computed) {
  auto settings = tiny_run("d-psgd", 4, 3);
  settings.slow[3] = 1000;
  auto s = impatient("tang-best");
  s.sample_time_s = 0.02;
  EXPECT_GT(simulate(prepare(settings), s).summary.final.time_s, 100);
}

TEST(patience, names_a_fault_that_never_ends) {
  for (const auto& [f, text] :
       {std::pair<fault, const char*>{{.kind = fault_kind::drop, .from = {0}, .at_s = 0.001},
                                      "all frames from worker 0 are lost"},
        {{.kind = fault_kind::pause, .workers = {1}, .at_s = 0.001}, "worker 1 stands still"}}) {
    run_surroundings around;
    around.faults.faults.push_back(f);
    try {
      simulate(prepare(tiny_run("d-psgd", 4, 100)), impatient("tang-best"), around);
      ADD_FAILURE() << text;
    } catch (const error& late) {
      EXPECT_THAT(late.what(), HasSubstr("a fault never ends; " + std::string{text}));
      EXPECT_THAT(late.remedy(), HasSubstr("--patience"));
    }
  }
}

TEST(patience, names_the_fault_that_is_likelier_to_keep_others_waiting) {
  run_surroundings around;
  around.faults.faults = {{.kind = fault_kind::slow, .workers = {3}, .factor = 1.01},
                          {.kind = fault_kind::pause, .workers = {0, 1, 2}, .at_s = 0.001}};
  try {
    simulate(prepare(tiny_run("d-psgd", 4, 100)), impatient("tang-best"), around);
    ADD_FAILURE() << "nobody can go on";
  } catch (const error& late) {
    EXPECT_THAT(late.what(), HasSubstr("; workers 0-2 stand still from 0.001 s on; "));
  }
}

TEST(patience, does_not_end_when_the_last_frame_has_just_come) {
  auto s = impatient("uniform:bandwidth=1000");
  s.patience_s = 0.01;
  for (const char* algorithm : {"ad-psgd", "d-psgd"})
    EXPECT_EQ(simulate(prepare(tiny_run(algorithm, 2, 3)), s).summary.end, run_end::planned) << algorithm;
}

// Where the fast ones have begun a step with an evaluation, the slow ones begin it, too, as their last one. A run that
// goes on from there has the evaluations before it.
TEST(an_interrupt, leaves_out_no_evaluation_that_was_due) {
  auto settings = tiny_run("d-psgd", 6, 1000);
  settings.slow[3] = 2;
  settings.eval_every = 1;
  const auto e = prepare(settings);
  const auto every = e->evaluation_steps * settings.workers;
  std::set<std::uint64_t> ends;
  for (int looks = 500; ends.size() < 3 * e->evaluation_steps; looks += 10) {
    testing_support::evaluations seen;
    int asked = 0;
    run_surroundings around{.observer = &seen};
    around.interrupted = [&] { return ++asked > looks; };
    const auto end = simulate(e, {}, around).summary;
    ASSERT_EQ(end.end, run_end::interrupted);
    std::set<std::uint64_t> steps;
    for (const auto& one : seen.records)
      steps.insert(one.step);
    for (std::uint64_t due = 0; due < end.final.step; due += every)
      EXPECT_TRUE(steps.contains(due)) << due << " of " << end.final.step;
    ends.insert(end.final.step);
  }
}

} // namespace
} // namespace gossamer::actors
