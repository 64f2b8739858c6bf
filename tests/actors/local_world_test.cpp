// Real threads and real actors in one process. These tests hold however the threads are scheduled. Results that depend
// on the schedule (how well an asynchronous algorithm learns, how many steps each worker does) are tested in the
// simulated world.
#include "gossamer/actors/real_time/local_world.hpp"
#include "gossamer/actors/simulated/simulated_world.hpp"
#include "gossamer/base/error.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <cmath>
#include <numeric>

#include "push_gossip.hpp"

namespace gossamer::actors {
namespace {

using testing::AllOf;
using testing::HasSubstr;

run_settings small_run(const std::string& algorithm) {
  run_settings s;
  s.algorithm = algorithm;
  s.data = "digits:samples=1000,test=200";
  s.model = "mlp:hidden=20";
  s.epochs = 4;
  return s;
}

struct recorder final : run_observer {
  void on_evaluation(const evaluation_record& r) override { records.push_back(r); }
  std::vector<evaluation_record> records;
};

/// True if threads cannot change the resulting models.
bool one_outcome(const algorithm_traits& t) { return t.synchronous || t.equal_steps; }

/// Trains in the local world if the result does not depend on message timing, otherwise in the simulated one, which
/// always gives the same result.
run_summary train(const std::shared_ptr<const experiment>& e, const run_surroundings& around = {}) {
  return one_outcome(e->algorithm->traits) ? run_locally(e, around) : simulate(e, {}, around).summary;
}

class every_algorithm_locally : public testing::TestWithParam<std::string> {};

TEST_P(every_algorithm_locally, learns) {
  auto settings = small_run(GetParam());
  const auto& traits = algorithms().find(spec::parse(GetParam()).name).traits;
  if (!algorithms().find(spec::parse(GetParam()).name).converges())
    GTEST_SKIP() << "a baseline that is known to fail";
  const bool signs = !traits.promises.follows_mean_gradient; // steps of signs are small
  // Error feedback delays parts of updates by some steps, and asynchronous algorithms delay gradients.
  const bool delayed = !traits.synchronous || GetParam() == "ef-sgd" || GetParam() == "qsparse-local-sgd";
  settings.epochs = signs ? 24 : delayed ? 12 : 4;
  // The rate is higher than suggested for momentum, because there are few steps, and lower where updates are delayed.
  settings.lr = traits.default_lr.value_or(GetParam() == "ef-sgd" || GetParam() == "qsparse-local-sgd" ? 0.02 : 0.1);
  recorder seen;
  const auto summary = train(prepare(settings), {.observer = &seen});
  EXPECT_LT(summary.final.train_loss, (signs ? 0.9 : 0.7) * seen.records.front().train_loss);
  EXPECT_GT(summary.final.test_accuracy.value(), signs ? 0.2 : 0.3);
}

TEST_P(every_algorithm_locally, does_what_was_planned_and_reports_it) {
  const auto e = prepare(small_run(GetParam()));
  recorder seen;
  const auto summary = run_locally(e, {.observer = &seen});
  ASSERT_GE(seen.records.size(), 2u);
  EXPECT_EQ(seen.records.front().step, 0u);
  EXPECT_TRUE(std::isfinite(summary.final.train_loss));
  EXPECT_GT(summary.final.payload_bits, 0u);
  EXPECT_GT(summary.final.wire_bits, summary.final.payload_bits);
  EXPECT_EQ(summary.end, run_end::planned);
  for (std::size_t k = 1; k < seen.records.size(); ++k) {
    // An asynchronous run goes on while snapshots are asked for: the last may come after its last step.
    EXPECT_GE(seen.records[k].step, seen.records[k - 1].step + (e->algorithm->traits.synchronous ? 1 : 0));
    EXPECT_GE(seen.records[k].payload_bits, seen.records[k - 1].payload_bits);
  }
  const auto steps =
      std::accumulate(summary.steps_per_worker.begin(), summary.steps_per_worker.end(), std::uint64_t{0});
  EXPECT_EQ(steps, summary.final.step);
  EXPECT_GE(steps, e->steps_per_worker * 4);
  if (e->algorithm->traits.synchronous) {
    EXPECT_THAT(summary.steps_per_worker, testing::Each(e->steps_per_worker));
    EXPECT_TRUE(summary.staleness.empty());
  } else {
    std::uint64_t applied = 0;
    for (const auto& [age, count] : summary.staleness)
      applied += count;
    EXPECT_EQ(applied, steps);
  }
  EXPECT_EQ(summary.stale_frames, 0u);
}

TEST_P(every_algorithm_locally, stops_early_when_asked_and_still_sums_up) {
  auto settings = small_run(GetParam());
  settings.epochs = 100'000;
  settings.eval_every = 1000;
  const auto e = prepare(settings);
  struct patient final : run_observer {
    void on_progress(const progress_record& p) override { begun = p.epoch > 0; }
    std::atomic<bool> begun{false};
  } seen;
  const auto summary = run_locally(e, {.observer = &seen, .interrupted = [&] { return seen.begun.load(); }});
  EXPECT_EQ(summary.end, run_end::interrupted);
  EXPECT_GT(summary.final.step, 0u);
  if (e->algorithm->traits.synchronous) { // no worker is a step ahead of another
    EXPECT_THAT(summary.steps_per_worker, testing::Each(summary.steps_per_worker.front()));
  }
}

TEST_P(every_algorithm_locally, stops_when_its_time_is_over) {
  auto settings = small_run(GetParam());
  settings.epochs.reset(); // the time alone ends the run
  settings.seconds = 0.3;
  const auto summary = run_locally(prepare(settings));
  EXPECT_EQ(summary.end, run_end::seconds);
  EXPECT_GE(summary.final.time_s, 0.3);
}

TEST_P(every_algorithm_locally, says_when_and_where_it_diverged) {
  auto settings = small_run(GetParam());
  settings.data = "quadratic";
  settings.model = "quadratic";
  settings.lr = 1e6;
  const auto& traits = algorithms().find(spec::parse(GetParam()).name).traits;
  const bool steps_grow =
      traits.promises.follows_mean_gradient && traits.promises.sgd_alone; // not true of signs or grids
  try {
    const auto summary = run_locally(prepare(settings));
    EXPECT_FALSE(steps_grow) << "it cannot have converged";
    EXPECT_TRUE(std::isfinite(summary.final.train_loss));
  } catch (const error& e) {
    EXPECT_EQ(e.code(), errc::diverged);
    EXPECT_THAT(e.what(), HasSubstr("diverged"));
    EXPECT_THAT(e.what(), HasSubstr("epoch"));
  }
}

TEST_P(every_algorithm_locally, allocates_no_buffers_once_warm) {
  auto settings = small_run(GetParam());
  settings.epochs = 8;
  settings.eval_every = 1;
  const auto e = prepare(settings);
  struct watch final : run_observer {
    void on_evaluation(const evaluation_record&) override { blocks.push_back(pool.blocks_created()); }
    buffer_pool pool;
    std::vector<std::size_t> blocks;
  } w;
  w.pool = e->pool;
  // Threads would decide how many frames and snapshots exist at once.
  simulate(e, {}, {.observer = &w});
  ASSERT_GE(w.blocks.size(), 4u);
  // Frames may meet in a new way late in the run; a leak would be hundreds of blocks an epoch.
  EXPECT_LT(w.blocks.back(), w.blocks[w.blocks.size() / 2] + 20);
}

INSTANTIATE_TEST_SUITE_P(registry, every_algorithm_locally, testing::ValuesIn(algorithms().names()),
                         [](const auto& named) {
                           auto name = named.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

/// A model that throws at chosen calls, counted over all its clones.
class failing_model final : public compute::model {
public:
  failing_model(std::shared_ptr<const compute::model> real, std::shared_ptr<std::atomic<int>> calls, int first,
                int last, bool loses_device = false)
      : real_(real->clone()), shared_(std::move(real)), calls_(std::move(calls)), first_(first), last_(last),
        loses_device_(loses_device) {}

  std::size_t dimension() const override { return real_->dimension(); }
  void initial_point(std::span<float> x, const random_stream& r) const override { real_->initial_point(x, r); }
  double loss_and_gradient(std::span<const float> x, const compute::batch& b, std::span<float> g) override {
    const int call = ++*calls_;
    if (call >= first_ && call <= last_)
      loses_device_ ? throw lost_device() : throw std::runtime_error("the gradient went up in smoke");
    return real_->loss_and_gradient(x, b, g);
  }
  compute::evaluation evaluate(std::span<const float> x, const compute::batch& b) override {
    if (loses_device_ && *calls_ >= first_)
      throw lost_device();
    return real_->evaluate(x, b);
  }
  std::unique_ptr<compute::model> clone() const override {
    return std::make_unique<failing_model>(shared_, calls_, first_, last_, loses_device_);
  }

private:
  std::unique_ptr<compute::model> real_;
  std::shared_ptr<const compute::model> shared_;
  std::shared_ptr<std::atomic<int>> calls_;
  static error lost_device() { return {errc::device, "kernel 'gather_rows' failed on cuda:0: illegal address"}; }

  int first_, last_;
  bool loses_device_; ///< true: evaluations fail, too
};

std::shared_ptr<const experiment> with_failures(const std::string& algorithm, int first, int last) {
  auto e = std::make_shared<experiment>(*prepare(small_run(algorithm)));
  e->devices.front().model =
      std::make_shared<failing_model>(e->host.model, std::make_shared<std::atomic<int>>(0), first, last);
  return e;
}

TEST(supervision, one_clear_error_ends_the_run_when_a_compute_actor_fails) {
  for (const char* algorithm : {"d-psgd", "all-reduce-sgd"}) {
    try {
      run_locally(with_failures(algorithm, 10, 10));
      FAIL() << algorithm;
    } catch (const error& e) {
      EXPECT_EQ(e.code(), errc::failed);
      EXPECT_THAT(e.what(), HasSubstr("the compute actor of worker"));
      EXPECT_THAT(e.what(), HasSubstr("the gradient went up in smoke"));
    }
  }
}

TEST(supervision, restarts_the_compute_actor_where_the_algorithm_says_so) {
  const auto summary = run_locally(with_failures("ad-psgd", 10, 12));
  EXPECT_EQ(summary.end, run_end::planned);
  EXPECT_GE(summary.final.step, 4u * 8);
}

TEST(supervision, gives_up_on_a_compute_actor_that_always_fails) {
  EXPECT_THROW(run_locally(with_failures("ad-psgd", 10, 1'000'000)), error);
}

TEST(supervision, lets_the_others_go_on_when_a_gpu_is_lost) {
  for (const char* algorithm : {"ad-psgd", "all-reduce-sgd", "d-psgd", "async-sgd"})
    for (const rank on_gpu : {0u, 1u}) { // the device of worker 0 evaluates
      SCOPED_TRACE(testing::Message() << algorithm << ", worker " << on_gpu << " of 4 on a GPU");
      auto e = std::make_shared<experiment>(*prepare(small_run(algorithm)));
      e->devices.assign(4, e->host);
      e->devices[on_gpu].model =
          std::make_shared<failing_model>(e->host.model, std::make_shared<std::atomic<int>>(0), 10, 1'000'000, true);
      const auto summary = train(e); // an asynchronous worker might do too few gradients with threads
      EXPECT_EQ(summary.lost, 1u);
      EXPECT_EQ(summary.end, run_end::planned);
      EXPECT_LE(summary.steps_per_worker[on_gpu], 9u);
      EXPECT_GT(summary.final.step, 9u);
    }
}

TEST(supervision, an_observer_that_throws_ends_the_run) {
  struct full_disk final : run_observer {
    void on_evaluation(const evaluation_record&) override { throw error(errc::io, "the disk is full"); }
  } o;
  try {
    run_locally(prepare(small_run("ad-psgd")), {.observer = &o});
    FAIL();
  } catch (const error& e) {
    EXPECT_EQ(e.code(), errc::io);
  }
}

TEST(local_world, lets_nobody_send_more_than_its_receivers_take_out_of_their_mailboxes) {
  run_settings s = small_run("push-gossip");
  s.under_way = 1;
  testing_support::push_gossip::count_anew();
  run_locally(prepare(s, {.algorithms = testing_support::push_gossips()}));
  EXPECT_GE(testing_support::push_gossip::most_under_way(), 1);
  EXPECT_LE(testing_support::push_gossip::most_under_way(), 2) << "one more while the last is being handled";
}

TEST(local_world, lets_pauses_last_as_long_as_they_are) {
  auto s = small_run("async-diloco:period=4,grace=0.03");
  s.workers = 2;
  s.epochs.reset();
  s.steps = 20;
  const auto summary = run_locally(prepare(s));
  EXPECT_EQ(summary.end, run_end::planned);
  EXPECT_GE(summary.final.time_s, 4 * 0.03) << "each worker pushes before its last round four times";
}

TEST(local_world, wraps_every_link_for_fault_injection) {
  struct delaying_link final : link { // delays each frame until the next one comes, and keeps the order
    delaying_link(std::unique_ptr<link> inner, std::atomic<int>& seen) : inner_(std::move(inner)), seen_(seen) {}
    void send(frame f) override {
      ++seen_;
      inner_->send(std::move(f));
    }
    std::unique_ptr<link> inner_;
    std::atomic<int>& seen_;
  };
  std::atomic<int> seen{0};
  const auto e = prepare(small_run("d-psgd"));
  run_locally(e, {.wrap_link = [&](rank, rank, std::unique_ptr<link> inner) {
                return std::make_unique<delaying_link>(std::move(inner), seen);
              }});
  EXPECT_EQ(static_cast<std::uint64_t>(seen), e->steps_per_worker * 4 * 2); // one model to each of two neighbours
}

TEST(local_world, a_frame_that_contradicts_its_header_ends_the_run_with_an_error) {
  struct corrupting_link final : link {
    explicit corrupting_link(std::unique_ptr<link> inner) : inner_(std::move(inner)) {}
    void send(frame f) override {
      f.body.elements += 1;
      inner_->send(std::move(f));
    }
    std::unique_ptr<link> inner_;
  };
  try {
    run_locally(prepare(small_run("d-psgd")), {.observer = nullptr,
                                               .interrupted = {},
                                               .faults = {},
                                               .wrap_link = [&](rank, rank, std::unique_ptr<link> inner) {
                                                 return std::make_unique<corrupting_link>(std::move(inner));
                                               }});
    FAIL();
  } catch (const error& e) {
    EXPECT_EQ(e.code(), errc::bad_packet);
  }
}

std::string usage_error_of(run_settings s) {
  try {
    prepare(std::move(s));
  } catch (const error& e) {
    EXPECT_EQ(e.exit_status(), 2);
    return e.what();
  }
  ADD_FAILURE() << "no error";
  return {};
}

TEST(prepare, refuses_what_cannot_work) {
  auto s = small_run("ad-psgd");
  s.topology = "ring";
  s.workers = 5;
  EXPECT_THAT(usage_error_of(s),
              AllOf(HasSubstr("ad-psgd needs a topology without odd cycles"), HasSubstr("0-1-2-3-4-0")));
  s = small_run("all-reduce-sgd");
  s.codec = "uniform:bits=8";
  EXPECT_THAT(usage_error_of(s), HasSubstr("needs a codec that is exact, and 'uniform:bits=8' is not"));
  s = small_run("all-reduce-sgd");
  s.topology = "star";
  EXPECT_THAT(usage_error_of(s), HasSubstr("leave --topology out"));
  s = small_run("sgp");
  s.topology = "star";
  EXPECT_THAT(usage_error_of(s), AllOf(HasSubstr("cannot use topology 'star'"), HasSubstr("gossamer explain sgp")));
  s.algorithm = "sgp:graph=topology";
  EXPECT_EQ(prepare(s)->everybody->mixing->neighbours(0).size(), s.workers - 1);
  s = small_run("d-psgd");
  s.slow[4] = 2;
  EXPECT_THAT(usage_error_of(s), HasSubstr("workers are numbered 0 to 3"));
  s = small_run("d-psgd");
  s.lr = -1;
  EXPECT_THAT(usage_error_of(s), HasSubstr("--lr is -1"));
  s = small_run("d-psgd");
  s.model = "logistic";
  EXPECT_THAT(usage_error_of(s), HasSubstr("softmax"));
  s = small_run("d-psgd");
  s.batch = 1001;
  EXPECT_THAT(usage_error_of(s), HasSubstr("--batch is 1001, but the training set has 1000 samples"));
  s = small_run("d-psgd");
  s.steps = 10;
  EXPECT_THAT(usage_error_of(s), HasSubstr("both epochs and steps"));
  s = small_run("d-psgd");
  s.epochs.reset();
  s.seconds = 1;
  s.schedule = "cosine";
  EXPECT_THAT(usage_error_of(s), HasSubstr("give --epochs or --steps beside --seconds"));
  s = small_run("d-psdg");
  EXPECT_THAT(usage_error_of(s), HasSubstr("did you mean 'd-psgd'"));
}

} // namespace
} // namespace gossamer::actors
