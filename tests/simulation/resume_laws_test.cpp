// Runs that are cut off and resume from a checkpoint: synchronous algorithms come to the same bits as an uncut run,
// asynchronous ones keep their promises, and checkpoints are consistent however events interleave and whatever fails.
#include "gossamer/actors/collectives/pairwise_average.hpp"
#include "gossamer/actors/faults/chaos.hpp"
#include "gossamer/actors/simulated/simulated_world.hpp"
#include "gossamer/base/error.hpp"
#include "gossamer/testing/effort.hpp"
#include "gossamer/testing/spellings.hpp"

#include <gmock/gmock.h>

#include <fstream>

#include "quadratic_run.hpp"
#include "scratch_folder.hpp"

namespace gossamer::actors {

namespace {

using testing::Gt;
using testing::Lt;
using testing_support::quadratic_run;

namespace fs = std::filesystem;

constexpr std::uint64_t steps = 24, every = 7;

struct evaluations_seen final : run_observer {
  void on_evaluation(const evaluation_record& r) override { all.push_back(r); }
  std::vector<evaluation_record> all;
};

struct seen_run {
  run_summary summary;
  std::vector<evaluation_record> evaluations;
};

class every_run_that_goes_on : public testing::TestWithParam<std::string> {
protected:
  static std::shared_ptr<const experiment> run(std::uint64_t checkpoint_steps, std::size_t workers = 4,
                                               std::uint64_t of = steps) {
    auto s = quadratic_run(GetParam(), workers, of);
    s.data = "quadratic:samples=400,dim=40";
    s.optimiser = testing_support::optimiser_for(GetParam(), "momentum:beta=0.8");
    s.checkpoint.steps = checkpoint_steps;
    s.eval_every = 4 * static_cast<double>(s.batch) / 400; // after each step
    return prepare(s);
  }
  seen_run simulated(const std::shared_ptr<const experiment>& e, std::shared_ptr<const resumption> from = nullptr,
                     std::uint64_t interleaving = 0) const {
    evaluations_seen seen;
    simulation_settings s;
    s.interleaving = interleaving;
    auto result = simulate(e, s, {.observer = &seen, .checkpoints = folder(), .from = std::move(from)});
    return {result.summary, seen.all};
  }
  checkpoint_folder folder() const { return checkpoint_folder{fs::path{scratch_.path()} / "checkpoints"}; }
  /// Returns the last checkpoint before the final one.
  std::shared_ptr<const resumption> cut_off() const {
    const auto complain = [](const std::string& what) { ADD_FAILURE() << what; };
    const auto last = folder().newest(complain).all.checkpoint;
    fs::remove_all(folder().path() / std::to_string(last));
    return std::make_shared<const resumption>(folder().newest(complain));
  }
  bool synchronous() const { return run(0)->algorithm->traits.synchronous; }

  test::scratch_folder scratch_;
};

TEST_P(every_run_that_goes_on, comes_to_where_it_would_have_come) {
  const auto e = run(every);
  const auto whole = simulated(e);
  const auto from = cut_off();
  ASSERT_THAT(from->all.updates(), Gt(0u));
  ASSERT_THAT(from->all.updates(), Lt(steps * 4));
  const auto second = simulated(e, from);
  EXPECT_EQ(second.summary.end, run_end::planned);
  EXPECT_GE(second.summary.final.step, whole.summary.final.step);
  // Frames before the checkpoint count. Asynchronous workers may send less than in an uncut run.
  EXPECT_GE(second.summary.final.payload_bits, whole.summary.final.payload_bits * (synchronous() ? 100 : 80) / 100);
  EXPECT_GT(second.summary.final.time_s, from->all.time_s);
  if (!synchronous()) {
    EXPECT_LT(second.summary.final.train_loss, whole.evaluations.front().train_loss);
    return;
  }
  const auto found = std::ranges::find(whole.evaluations, from->all.updates(), &evaluation_record::step);
  ASSERT_EQ(static_cast<std::size_t>(whole.evaluations.end() - found), second.evaluations.size());
  for (const auto& r : second.evaluations) {
    const auto& was = *(found + (&r - second.evaluations.data()));
    EXPECT_EQ(r.step, was.step);
    EXPECT_EQ(r.train_loss, was.train_loss) << "step " << r.step;
    EXPECT_EQ(r.consensus_distance, was.consensus_distance) << "step " << r.step;
  }
}

TEST_P(every_run_that_goes_on, may_have_more_workers_or_fewer) {
  simulated(run(every));
  const auto from = cut_off();
  const auto begun = simulated(run(0)).evaluations.front().train_loss;
  for (const std::size_t workers : {2u, 6u}) {
    const auto e = run(0, workers, 2 * steps);
    const auto on = simulated(e, from);
    EXPECT_EQ(on.summary.end, run_end::planned) << workers;
    if (e->algorithm->converges()) {
      EXPECT_LT(on.summary.final.train_loss, begun) << workers;
    }
    EXPECT_GT(on.summary.final.step, from->all.updates()) << workers;
  }
}

/// Prepares a run of this number of epochs of 400 samples, saved at the end.
std::shared_ptr<const experiment> of_epochs(const std::string& algorithm, double epochs, std::size_t workers,
                                            std::size_t batch = 10) {
  auto s = quadratic_run(algorithm, workers, 1);
  s.batch = batch;
  s.optimiser = testing_support::optimiser_for(algorithm, "sgd");
  s.data = "quadratic:samples=400,dim=40";
  s.steps.reset();
  s.epochs = epochs;
  s.checkpoint.steps = 1'000'000;
  return prepare(s);
}

TEST_P(every_run_that_goes_on, counts_epochs_by_the_gradients_that_were_computed) {
  for (const auto& [before, now] : {std::pair<std::size_t, std::size_t>{4, 2}, {4, 8}, {3, 5}, {4, 4}}) {
    SCOPED_TRACE(testing::Message() << before << " workers, then " << now);
    fs::remove_all(folder().path());
    simulated(of_epochs(GetParam(), 3, before));
    const auto from =
        std::make_shared<const resumption>(folder().newest([](const auto& what) { ADD_FAILURE() << what; }));
    const auto on = simulated(of_epochs(GetParam(), 6, now), from).summary;
    EXPECT_EQ(on.end, run_end::planned);
    const auto slack = synchronous() ? now : 2 * now; // asynchronous workers finish steps under way
    EXPECT_NEAR(static_cast<double>(on.final.step), 6 * 40, static_cast<double>(slack));
    EXPECT_NEAR(on.final.epoch, 6, static_cast<double>(slack) / 40);
    const auto again =
        std::make_shared<const resumption>(folder().newest([](const auto& what) { ADD_FAILURE() << what; }));
    EXPECT_EQ(again->all.updates(), on.final.step);
    EXPECT_EQ(simulated(of_epochs(GetParam(), 6, before), again).summary.final.step, on.final.step)
        << "nothing is left";
  }
}

TEST_P(every_run_that_goes_on, counts_epochs_by_the_samples_of_its_minibatches) {
  constexpr std::size_t workers = 4;
  constexpr double slack = 2 * workers * 20 / 400.0; // asynchronous workers finish steps under way
  std::shared_ptr<const resumption> from;
  double epochs = 0, reached = 0;
  for (const std::size_t batch : {10u, 20u, 5u}) {
    SCOPED_TRACE(testing::Message() << "minibatches of " << batch);
    epochs += 3;
    const auto on = simulated(of_epochs(GetParam(), epochs, workers, batch), from);
    EXPECT_NEAR(on.summary.final.epoch, epochs, slack);
    const auto more = on.summary.final.step - (from ? from->all.updates() : 0);
    EXPECT_NEAR(static_cast<double>(more * batch) / 400, 3, slack) << "what was trained";
    for (const auto& r : on.evaluations)
      EXPECT_GE(r.epoch, reached - 1e-9);
    reached = on.summary.final.epoch;
    from = std::make_shared<const resumption>(folder().newest([](const auto& what) { ADD_FAILURE() << what; }));
    EXPECT_NEAR(static_cast<double>(from->all.samples) / 400, epochs, slack);
  }
  if (synchronous()) { // of others less than a step may be left, which the larger minibatches round up
    EXPECT_EQ(simulated(of_epochs(GetParam(), epochs, workers), from).summary.final.step, from->all.updates())
        << "nothing is left";
  }
}

TEST_P(every_run_that_goes_on, counts_steps_of_each_worker_of_its_own) {
  simulated(run(every));
  const auto from = cut_off();
  const auto on = simulated(run(0, 8, 2 * steps), from).summary;
  const auto more = (2.0 * steps - from->all.steps) * 8;
  EXPECT_NEAR(static_cast<double>(on.final.step), static_cast<double>(from->all.updates()) + more,
              synchronous() ? 0 : 16);
}

TEST_P(every_run_that_goes_on, has_consistent_checkpoints_however_events_interleave) {
  const auto e = run(3); // the auditor throws
  for (std::uint64_t interleaving = 1; interleaving <= 30; ++interleaving)
    EXPECT_NO_THROW(simulated(e, nullptr, interleaving)) << interleaving;
}

TEST_P(every_run_that_goes_on, has_consistent_checkpoints_under_random_faults) {
  const auto e = run(3);
  simulation_settings s;
  s.detection_s = 0.002;
  const double horizon = 0.5 * simulate(e, s).summary.final.time_s;
  for (std::uint64_t seed = 1; seed <= test::tries(30); ++seed) {
    const auto plan = draw_plan(seed, {.workers = 4, .masters = e->masters, .horizon_s = horizon});
    EXPECT_NO_THROW(simulate(e, s, {.faults = plan})) << seed << '\n' << to_toml(plan);
  }
}

/// Runs of single algorithms, each of which goes on from the end of the one before.
class one_run_after_another : public testing::Test {
protected:
  evaluation_record simulated(const std::string& algorithm, std::size_t workers, std::uint64_t of, bool goes_on) const {
    auto s = quadratic_run(algorithm, workers, of);
    s.data = "quadratic:samples=400,dim=40";
    s.optimiser = testing_support::optimiser_for(algorithm, "momentum:beta=0.8");
    s.checkpoint.steps = 1'000'000; // only at the end
    const checkpoint_folder folder{fs::path{scratch_.path()} / "checkpoints"};
    if (!goes_on)
      fs::remove_all(folder.path());
    const auto complain = [](const std::string& what) { ADD_FAILURE() << what; };
    auto from = goes_on ? std::make_shared<const resumption>(folder.newest(complain)) : nullptr;
    return simulate(prepare(s), {}, {.checkpoints = folder, .from = std::move(from)}).summary.final;
  }

  test::scratch_folder scratch_;
};

TEST_F(one_run_after_another, packs_once_more_what_was_under_way_to_the_same_bits) {
  const std::string algorithm = "streaming-diloco:period=8,fragments=2,overlap=3"; // with random rounding
  const auto whole = simulated(algorithm, 3, 40, false);
  for (std::uint64_t end = 20; end < 24; ++end) { // a fragment leaves after 20 steps, and is due after 23
    simulated(algorithm, 3, end, false);
    EXPECT_EQ(simulated(algorithm, 3, 40, true).train_loss, whole.train_loss) << "after " << end << " steps";
  }
}

// The auditor throws if workers' models differ.
TEST_F(one_run_after_another, takes_the_errors_of_one_worker_for_those_of_no_other_members) {
  for (const auto* algorithm : {"one-bit-adam:warm-up=2", "zero-one-adam:warm-up=2"})
    for (const std::size_t workers : {2u, 3u}) {
      simulated(algorithm, 1, 10, false);
      EXPECT_NO_THROW(simulated(algorithm, workers, 30, true)) << algorithm << " on " << workers;
    }
}

// Worker 3 waits for an answer of worker 2, and hears of its first checkpoint when that has been given up.
TEST(a_checkpoint_that_is_given_up, halves_no_exchange_in_the_next_one) {
  run_settings run;
  run.algorithm = "ad-psgd";
  run.model = "softmax";
  run.data = "digits:samples=200,test=50";
  run.epochs = 20;
  run.seed = 17;
  run.checkpoint.steps = 8;
  fault_plan plan;
  plan.faults.push_back(
      {.kind = fault_kind::throttle, .from = {3}, .to = {2}, .at_s = 4e-4, .lasts_s = 0.015, .bits_per_second = 1e7});
  plan.faults.push_back({.kind = fault_kind::drop, .from = {2}, .to = {3}, .lasts_s = 0.02, .rate = 0.1});
  plan.faults.push_back({.kind = fault_kind::kill, .workers = {0}, .lasts_s = 0.02});
  const auto e = prepare(run);
  for (std::uint64_t interleaving = 1; interleaving <= 10; ++interleaving) {
    simulation_settings s;
    s.interleaving = interleaving;
    EXPECT_NO_THROW(simulate(e, s, {.faults = plan})) << interleaving; // the auditor throws
  }
}

// Its state has the effects of questions that are asked again, or, in another process, lacks them.
TEST(a_master_that_comes_back, halves_no_exchange_in_a_checkpoint) {
  run_settings run;
  run.algorithm = "eamsgd:period=2"; // so that there are steps while workers need no master
  run.model = "softmax";
  run.data = "digits:samples=200,test=50";
  run.steps = 30;
  run.checkpoint.seconds = 0.05;
  simulation_settings s;
  s.network = "wan";
  for (const bool processes : {false, true}) {
    s.processes = processes;
    fault_plan plan;
    for (double at_s = 0.67; at_s < 10; at_s += processes ? 2.1 : 0.7)
      plan.faults.push_back(
          {.kind = fault_kind::kill, .workers = {4}, .at_s = at_s, .lasts_s = 0.001, .processes = processes});
    for (run.seed = 1; run.seed <= 5; ++run.seed)
      EXPECT_NO_THROW(simulate(prepare(run), s, {.faults = plan}))
          << run.seed << ' ' << processes; // the auditor throws
  }
}

/// Averages with a worker that is no neighbour in the ring of six, after each gradient.
class distant_pairs final : public algorithm {
public:
  explicit distant_pairs(vec initial) : x_(std::move(initial)) {}

  task<> run(worker& w) override {
    w.serve(answer(w));
    for (; co_await w.next_step(t_); ++t_) {
      const vec g = co_await w.start_gradient(x_, t_);
      w.update(x_, g, t_);
      const auto peer = static_cast<rank>((w.id() + 2 + t_ % 2) % w.ranks());
      if (w.is_present(peer)) {
        const average_question next{.number = asked_++};
        co_await ask_for_average(w, x_, peer, next);
      }
    }
  }
  const vec& model() const override { return x_; }
  void fields(archive& a) override { a(x_)(t_)(asked_); }
  void inherit(worker&) override { asked_ = 0; }

private:
  task<> answer(worker& w) {
    for (;;) {
      const auto request = co_await w.receive_any(frame_kind::average_request);
      answer_average(w, x_, request);
    }
  }

  vec x_;
  std::uint64_t t_ = 0, asked_ = 0;
};

TEST(an_exchange_of_workers_that_are_no_neighbours, is_in_a_checkpoint_with_both_halves_or_none) {
  const std::array own{algorithm_entry{
      .about = {.name = "distant-pairs", .summary = "averages across the ring"},
      .traits = {.exchange = exchange_pattern::all, .synchronous = false},
      .make = [](const algorithm_setup& s) -> std::unique_ptr<algorithm> {
        return std::make_unique<distant_pairs>(s.initial);
      },
  }};
  auto run = quadratic_run("distant-pairs", 6, 40);
  run.checkpoint.steps = 3;
  const auto e = prepare(run, {.algorithms = {"algorithm", own}});
  simulation_settings s;
  s.processes = true; // so that the leader's order comes to workers at different times
  s.network = "wan";
  for (s.interleaving = 1; s.interleaving <= 10; ++s.interleaving)
    EXPECT_NO_THROW(simulate(e, s)) << s.interleaving; // the auditor throws
}

INSTANTIATE_TEST_SUITE_P(registry, every_run_that_goes_on, testing::ValuesIn(testing_support::every_spelling()),
                         [](const auto& named) { return testing_support::as_test_name(named.param); });

} // namespace

} // namespace gossamer::actors
