// Masters that die: before any worker has heard of them, and so that their workers wait.
#include "gossamer/actors/simulated/simulated_world.hpp"
#include "gossamer/testing/spellings.hpp"

#include <gmock/gmock.h>

#include "expect.hpp"
#include "lawful_run.hpp"

namespace gossamer::actors {
namespace {

using testing_support::evaluations;

std::vector<std::string> algorithms_with_masters() {
  auto all = testing_support::every_spelling();
  std::erase_if(all, [](const auto& one) { return prepare(testing_support::lawful_run(one))->masters == 0; });
  return all;
}

class every_algorithm_with_masters : public testing::TestWithParam<std::string> {
protected:
  double first_loss() const {
    evaluations calm;
    simulate(run_, {}, {.observer = &calm});
    return calm.records.front().train_loss;
  }

  /// Runs once for each master, which dies at that moment, and expects the run to learn.
  void expect_to_learn_without(double at_s, std::optional<double> lasts_s, bool processes) const {
    simulation_settings s;
    s.processes = processes;
    s.process_patience_s = 1.5;
    s.detection_s = 0.002;
    for (std::size_t k = 0; k < run_->masters; ++k) {
      SCOPED_TRACE(testing::Message() << "master " << k << " dies at " << at_s << " s");
      const auto who = static_cast<rank>(run_->settings.worker_ranks() + k);
      fault_plan plan;
      plan.faults = {{.kind = fault_kind::kill, .workers = {who}, .at_s = at_s, .lasts_s = lasts_s}};
      plan.faults.front().processes = processes;
      const auto end = simulate(run_, s, {.faults = plan}).summary; // throws if the run fails
      EXPECT_EQ(end.lost, 1u);
      EXPECT_EQ(end.returned, 1u);
      EXPECT_EQ(end.end, run_end::planned);
      EXPECT_LT(end.final.train_loss, 0.8 * first_loss_);
    }
  }

  std::shared_ptr<const experiment> run_ = prepare(testing_support::lawful_run(GetParam()));
  double first_loss_ = first_loss();
};

constexpr double first_moments[] = {0, 1e-9, 1e-5, 1e-4, 1e-3};

TEST_P(every_algorithm_with_masters, goes_on_when_one_dies_at_once) {
  for (const double at_s : first_moments)
    for (const auto& lasts_s : {std::optional<double>{}, std::optional{1e-3}, std::optional{0.1}})
      expect_to_learn_without(at_s, lasts_s, false);
}

TEST_P(every_algorithm_with_masters, goes_on_when_the_process_of_one_dies_at_once) {
  for (const double at_s : first_moments)
    expect_to_learn_without(at_s, 0.1, true);
}

INSTANTIATE_TEST_SUITE_P(registry, every_algorithm_with_masters, testing::ValuesIn(algorithms_with_masters()),
                         [](const auto& named) { return testing_support::as_test_name(named.param); });

/// The first master's death half a second after the begin, for so long.
fault_plan death_of_master(const experiment& e, double lasts_s, bool processes) {
  fault_plan plan;
  plan.faults = {{.kind = fault_kind::kill, .workers = {static_cast<rank>(e.settings.worker_ranks())}}};
  plan.faults.front().at_s = 0.5;
  plan.faults.front().lasts_s = lasts_s;
  plan.faults.front().processes = processes;
  return plan;
}

simulation_settings in_processes(bool processes) {
  simulation_settings s;
  s.processes = processes;
  s.sample_time_s = 0.01;
  s.detection_s = 0.002;
  return s;
}

TEST(masters, are_waited_for_by_all_workers_and_count_as_none) {
  const auto e = prepare(testing_support::lawful_run("async-sgd"));
  for (const bool processes : {false, true}) {
    testing_support::events seen;
    const auto end =
        simulate(e, in_processes(processes), {.observer = &seen, .faults = death_of_master(*e, 0.5, processes)});
    EXPECT_THAT(seen.all(),
                testing::Contains(processes ? "master 0 is lost; workers wait until its node is back: gossamer node "
                                              "--join, or launch --restart"
                                            : "master 0 is lost; workers wait until it is back"));
    EXPECT_EQ(end.summary.lost, 1u);
    EXPECT_EQ(end.summary.unreported, 0u) << "no worker has died";
  }
}

TEST(masters, are_named_when_a_run_ends_in_vain_without_their_models) {
  auto settings = testing_support::lawful_run("async-sgd");
  settings.steps.reset();
  settings.seconds = 2;
  const auto e = prepare(settings);
  const auto failure = testing_support::refusal(
      [&] { simulate(e, in_processes(true), {.faults = death_of_master(*e, 1e5, true)}); }, errc::failed);
  EXPECT_THAT(failure,
              testing::HasSubstr("have not come within 20 s: master 0 is lost; its node may come back before"));
}

} // namespace
} // namespace gossamer::actors
