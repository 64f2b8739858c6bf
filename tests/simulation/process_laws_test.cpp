// Laws of every algorithm in the simulated world when processes die there, the leader among them.
#include "gossamer/actors/faults/chaos.hpp"
#include "gossamer/actors/faults/shrink.hpp"
#include "gossamer/actors/simulation/auditor.hpp"
#include "gossamer/apps/detail/failure.hpp"
#include "gossamer/base/error.hpp"
#include "gossamer/testing/effort.hpp"
#include "gossamer/testing/spellings.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>

#include "lawful_run.hpp"

namespace gossamer::actors {
namespace {

using testing_support::comers;
using testing_support::evaluations;

const std::uint64_t plans = test::tries(4); // 25000 percent is for a night: 1,000 each

/// Returns options of a run of some seconds, so that processes have the time to come back, and partitions outlast their
/// patience. Frames and news come in any order.
apps::run_options apart(const std::string& algorithm, bool longer) {
  apps::run_options o;
  o.run = testing_support::lawful_run(algorithm);
  o.world.processes = true;
  o.world.network = "tang-best:jitter=0.001";
  o.world.jitter = "exponential";
  o.world.sample_time_s = longer ? 0.1 : 0.01;
  o.world.process_patience_s = longer ? 10 : 1.5;
  o.world.detection_s = 0.002;
  return o;
}

/// The same run without faults.
struct calm_run {
  calm_run(const std::shared_ptr<const experiment>& e, const simulation_settings& s) {
    evaluations seen;
    horizon_s = 0.5 * simulate(e, s, {.observer = &seen}).summary.final.time_s;
    first_loss = seen.records.front().train_loss;
  }
  double horizon_s; ///< horizon of plans: half of the run's time
  double first_loss;
};

/// True if a run may end without a summary: most voters are lost, or a master is. Any other end is a failure.
bool may_end_a_run(const error& e) {
  const std::string_view what = e.what();
  return e.code() == errc::failed && dynamic_cast<const broken_promise*>(&e) == nullptr
         && (what.starts_with("most of the ") || what.starts_with("nothing has been heard of the leader")
             || what.find("is lost with its process") != what.npos);
}

bool kills_processes(const fault& f) { return f.kind == fault_kind::kill && f.strikes_processes(); }

/// Returns the first seed of an algorithm's plans. Algorithms have different plans, so that together they try many.
std::uint64_t first_seed(const std::string& algorithm) {
  const auto all = testing_support::every_spelling();
  return 1 + 100'000 * static_cast<std::uint64_t>(std::ranges::find(all, algorithm) - all.begin());
}

/// One algorithm under many plans.
class every_algorithm_in_processes : public testing::TestWithParam<std::string> {
protected:
  /// Returns the failure of a run under this plan. Empty: none.
  std::string failure_of(const apps::run_options& o, const fault_plan& plan) {
    try {
      const auto result = simulate(o.run.max_workers ? growing_ : run_, o.world, {.faults = plan});
      ++ended_;
      returned_ += result.summary.returned;
      const bool has_learnt = result.summary.final.train_loss < 0.8 * calm_.first_loss;
      return has_learnt || !run_->algorithm->converges() ? "" : "it has not learnt";
    } catch (const error& broken) {
      if (!may_end_a_run(broken))
        return broken.what();
      endings_ += std::string{"\n"} + broken.what();
      return "";
    }
  }

  /// Returns the smallest plan under which the run still fails, and the command that shows it.
  std::string shrunk(apps::run_options o, const fault_plan& plan) {
    const auto smallest = shrink(plan, [&](const fault_plan& p) { return !failure_of(o, p).empty(); },
                                 {.max_attempts = 200, .workers = o.run.worker_ranks()});
    o.faults = testing::TempDir() + "process_laws_" + testing_support::as_test_name(GetParam()) + ".toml";
    std::ofstream{o.faults} << to_toml(smallest);
    return failure_of(o, smallest) + '\n' + to_toml(smallest)
           + "replay: " + apps::replay_command(apps::program{"gossamer", {}}, o, {});
  }

  std::shared_ptr<const experiment> run_ = prepare(testing_support::lawful_run(GetParam()));
  std::shared_ptr<const experiment> growing_ = testing_support::growing_run(GetParam());
  calm_run calm_{run_, apart(GetParam(), false).world}, longer_{run_, apart(GetParam(), true).world};
  std::uint64_t ended_ = 0, returned_ = 0;
  std::string endings_;
};

TEST_P(every_algorithm_in_processes, survives_the_deaths_of_processes) {
  for (std::uint64_t seed = first_seed(GetParam()), tried = 0; tried < plans; ++seed) {
    const bool longer = seed % 2 == 0;
    const bool churn = seed % 4 >= 2; // processes also come and leave
    const auto plan = draw_plan(seed, {.workers = 8 + (churn ? comers : 0),
                                       .masters = run_->masters,
                                       .horizon_s = longer ? longer_.horizon_s : calm_.horizon_s,
                                       .processes = true,
                                       .comers = churn ? comers : 0});
    if (std::ranges::none_of(plan.faults, kills_processes))
      continue; // simulation_laws tries those plans
    ++tried;
    auto options = apart(GetParam(), longer);
    options.world.interleaving = seed;
    if (churn)
      options.run.max_workers = growing_->settings.max_workers;
    if (const auto what = failure_of(options, plan); !what.empty())
      FAIL() << "plan " << seed << ": " << what << "\nshrunk: " << shrunk(options, plan);
  }
  EXPECT_GE(4 * ended_, 3 * plans) << "plans leave those alive that are needed:" << endings_;
  RecordProperty("ended", static_cast<int>(ended_));
  RecordProperty("returned", static_cast<int>(returned_));
  RecordProperty("endings", endings_);
}

INSTANTIATE_TEST_SUITE_P(registry, every_algorithm_in_processes, testing::ValuesIn(testing_support::every_spelling()),
                         [](const auto& named) { return testing_support::as_test_name(named.param); });

} // namespace
} // namespace gossamer::actors
