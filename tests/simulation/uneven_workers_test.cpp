// async-diloco and decoupled-diloco among workers of different speed: who waits for whom, and how many steps each does.
#include "gossamer/actors/simulated/simulated_world.hpp"

#include <gmock/gmock.h>

#include "quadratic_run.hpp"

namespace gossamer::actors {
namespace {

using testing_support::quadratic_run;

constexpr std::size_t workers = 4;
constexpr rank slow_worker = 3, the_master = workers;

std::shared_ptr<const experiment> run_of(const std::string& parameters, double slow, std::uint64_t steps = 400,
                                         const std::string& algorithm = "async-diloco") {
  auto s = quadratic_run(algorithm + ":period=10" + parameters, workers, steps);
  s.data = "quadratic:samples=400,dim=10";
  s.slow = {{slow_worker, slow}};
  return prepare(s);
}

/// Frames from one to another, by their kinds.
using frame_counts = std::map<std::tuple<rank, rank, frame_kind>, std::uint64_t>;

struct counting_link final : link {
  counting_link(std::unique_ptr<link> inner, rank to, frame_counts& counts)
      : inner_(std::move(inner)), to_(to), counts_(counts) {}
  void send(frame f) override {
    ++counts_[{f.source, to_, f.label.kind}];
    inner_->send(std::move(f));
  }
  std::unique_ptr<link> inner_;
  rank to_;
  frame_counts& counts_;
};

struct counted_run {
  run_summary summary;
  frame_counts counts;

  double steps_a_push(rank i) const {
    return static_cast<double>(summary.steps_per_worker[i])
           / static_cast<double>(counts.at({i, the_master, frame_kind::request}) - 1); // the first one pulls
  }
};

counted_run counted(const std::string& parameters, double slow, std::uint64_t steps = 400) {
  counted_run result;
  run_surroundings around;
  around.wrap_link = [&](rank, rank to, std::unique_ptr<link> inner) {
    return std::make_unique<counting_link>(std::move(inner), to, result.counts);
  };
  result.summary = simulate(run_of(parameters, slow, steps), {}, around).summary;
  return result;
}

TEST(dylu, gives_a_worker_of_half_the_speed_half_the_steps) {
  const auto with = counted(",dylu=yes", 2), without = counted("", 2);
  for (rank i = 0; i < slow_worker; ++i) {
    EXPECT_NEAR(with.steps_a_push(i), 10, 0.5);
    EXPECT_NEAR(without.steps_a_push(i), 10, 0.5);
  }
  EXPECT_NEAR(with.steps_a_push(slow_worker), 5, 0.5); // the first round has 10 steps
  EXPECT_NEAR(without.steps_a_push(slow_worker), 10, 0.5);
}

TEST(dylu, leaves_the_slowest_a_step) {
  EXPECT_NEAR(counted(",dylu=yes", 20, 2000).steps_a_push(slow_worker), 1, 0.2); // the first round has 10 steps
}

/// Seconds of a run whose worker 3 is so many times slower.
double seconds_of(const std::string& parameters, double slow) {
  return simulate(run_of(parameters, slow), {}).summary.final.time_s;
}

TEST(quorum, is_not_held_up_by_a_straggler) {
  // Three workers do the share of a fourth in 4/3 of the time; the end waits for the straggler's last gradient.
  EXPECT_LT(seconds_of(",quorum=3", 10), 1.5 * seconds_of(",quorum=3", 1));
  EXPECT_GT(seconds_of(",quorum=4", 10), 5 * seconds_of(",quorum=4", 1));
}

/// Steps of worker 0 in a second.
double rate_of(const std::string& parameters, double slow) {
  const auto ended = simulate(run_of(parameters, slow, 2000, "decoupled-diloco"), {}).summary;
  return static_cast<double>(ended.steps_per_worker[0]) / ended.final.time_s;
}

TEST(decoupled_diloco, is_not_slowed_by_a_learner_ten_times_slower) {
  for (const char* parameters : {"", ",quorum=1", ",quorum=3", ",quorum=3,fragments=5"})
    EXPECT_NEAR(rate_of(parameters, 10) / rate_of(parameters, 1), 1, 0.01) << parameters;
  EXPECT_LT(rate_of(",quorum=4", 10), 0.2 * rate_of(",quorum=4", 1)) << "but for a quorum of all";
}

TEST(decoupled_diloco, goes_on_when_learners_are_lost_for_ever) {
  for (const char* parameters : {",quorum=2", ",quorum=2,anchor=read,merge=mean,own-share=0,outer-momentum=0.3",
                                 ",quorum=4,fragments=5", ",quorum=1,grace=0.01"}) {
    const auto e = run_of(parameters, 1, 400, "decoupled-diloco");
    const auto calm = simulate(e, {}).summary;
    run_surroundings around;
    around.faults.faults.push_back({.kind = fault_kind::kill, .workers = {1, 3}, .at_s = calm.final.time_s / 4});
    const auto begun = simulate(run_of(parameters, 1, 1, "decoupled-diloco"), {}).summary.final.train_loss;
    const auto ended = simulate(e, {}, around).summary;
    EXPECT_EQ(ended.end, run_end::planned) << parameters;
    EXPECT_GT(ended.steps_per_worker[0], 2 * ended.steps_per_worker[1]) << parameters;
    EXPECT_LT(ended.final.train_loss, 0.5 * begun) << parameters;
  }
}

TEST(grace, takes_its_time_and_no_more) {
  const auto calm = seconds_of("", 1), patient = seconds_of(",grace=0.5", 1);
  const double rounds = 400.0 / 10;
  EXPECT_NEAR(patient - calm, 0.5 * rounds, 0.5 * 2);
  EXPECT_EQ(seconds_of(",grace=0", 1), calm);
}

TEST(grace, that_is_longer_than_the_patience_is_no_standstill) {
  simulation_settings s;
  s.patience_s = 10;
  EXPECT_EQ(simulate(run_of(",grace=100", 1, 40), s).summary.end, run_end::planned);
}

TEST(grace, repeats_to_the_bit) {
  const auto e = run_of(",grace=0.01,dylu=yes", 2);
  const auto first = simulate(e, {}), again = simulate(e, {});
  EXPECT_EQ(first.hash, again.hash);
  EXPECT_NE(first.hash, simulate(run_of(",grace=0.02,dylu=yes", 2), {}).hash);
}

} // namespace
} // namespace gossamer::actors
