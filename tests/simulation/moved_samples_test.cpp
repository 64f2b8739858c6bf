// The samples that workers train on while others are lost.
#include "gossamer/actors/simulated/simulated_world.hpp"
#include "gossamer/compute/redeal.hpp"
#include "gossamer/compute/sampler.hpp"

#include <gmock/gmock.h>

#include <set>

#include "quadratic_run.hpp"

namespace gossamer::actors {
namespace {

using minibatch = std::vector<std::uint32_t>;
using minibatches = std::vector<minibatch>;

/// Records the samples of each call, also of its clones.
class recording_model final : public compute::model {
public:
  recording_model(std::shared_ptr<const compute::model> real, std::shared_ptr<minibatches> seen)
      : real_(real->clone()), shared_(std::move(real)), seen_(std::move(seen)) {}

  std::size_t dimension() const override { return real_->dimension(); }
  void initial_point(std::span<float> x, const random_stream& r) const override { real_->initial_point(x, r); }
  double loss_and_gradient(std::span<const float> x, const compute::batch& b, std::span<float> g) override {
    seen_->emplace_back(b.indices.begin(), b.indices.end());
    return real_->loss_and_gradient(x, b, g);
  }
  compute::evaluation evaluate(std::span<const float> x, const compute::batch& b) override {
    return real_->evaluate(x, b);
  }
  std::unique_ptr<compute::model> clone() const override { return std::make_unique<recording_model>(shared_, seen_); }

private:
  std::unique_ptr<compute::model> real_;
  std::shared_ptr<const compute::model> shared_;
  std::shared_ptr<minibatches> seen_;
};

constexpr std::size_t workers = 4;
constexpr rank lost = 2;

/// A run in which worker 2 dies, and the minibatches of all workers.
class run_with_a_loss {
public:
  explicit run_with_a_loss(const std::string& algorithm, std::uint64_t steps = 120, const char* partition = "iid") {
    auto s = testing_support::quadratic_run(algorithm, workers, steps);
    s.model = "softmax";
    s.data = "digits:samples=400,test=20";
    s.partition = partition;
    auto e = std::make_shared<experiment>(*prepare(s));
    e->devices.assign(workers, e->host);
    for (auto& device : e->devices) {
      seen_.push_back(std::make_shared<minibatches>());
      device.model = std::make_shared<recording_model>(e->host.model, seen_.back());
    }
    experiment_ = std::move(e);
  }

  simulation_result run(std::optional<double> back_after_s, std::uint64_t interleaving = 0) {
    run_surroundings around;
    around.faults.faults.push_back({.workers = {lost}, .at_step = 30, .lasts_s = back_after_s});
    for (const auto& one : seen_)
      one->clear();
    return simulate(experiment_, {.sample_time_s = 1e-4, .interleaving = interleaving, .detection_s = 0.003}, around);
  }

  const minibatches& seen_by(rank i) const { return *seen_[i]; }
  const minibatch& first_share(rank i) const { return (*experiment_->shards)[i]; }
  minibatch share_without_the_lost(rank i) const {
    return compute::redeal(*experiment_->shards, experiment_->settings.seed, minibatch{0, 1, 3})[i];
  }
  /// Returns a worker's minibatch in step t if this is its share.
  minibatch in_step(std::uint64_t t, rank i, const minibatch& share) const {
    compute::sampler order{share, experiment_->settings.batch, {experiment_->settings.seed, i, purpose::data}};
    const auto batch = order.batch_of(t);
    return {batch.begin(), batch.end()};
  }
  /// Returns the steps at which a surviving worker changed to the other share, and back to the first.
  std::vector<std::uint64_t> changes(rank i) const {
    const auto first = first_share(i), other = share_without_the_lost(i);
    std::vector<std::uint64_t> result;
    for (std::uint64_t t = 0; t < seen_by(i).size(); ++t) {
      const bool had_first = result.size() % 2 == 0;
      if (seen_by(i)[t] == in_step(t, i, had_first ? first : other))
        continue;
      EXPECT_EQ(seen_by(i)[t], in_step(t, i, had_first ? other : first)) << "worker " << i << ", step " << t;
      result.push_back(t);
    }
    return result;
  }

private:
  std::vector<std::shared_ptr<minibatches>> seen_;
  std::shared_ptr<const experiment> experiment_;
};

class every_synchronous_algorithm : public testing::TestWithParam<const char*> {};

TEST_P(every_synchronous_algorithm, gives_the_samples_of_the_lost_to_the_others_in_one_step) {
  run_with_a_loss r{GetParam()};
  for (std::uint64_t interleaving = 0; interleaving < 5; ++interleaving) {
    EXPECT_EQ(r.run(std::nullopt, interleaving).summary.lost, 1u);
    const auto step = r.changes(0);
    ASSERT_EQ(step.size(), 1u);
    EXPECT_EQ(r.changes(1), step);
    EXPECT_EQ(r.changes(3), step);
    std::set<std::uint32_t> trained; // samples of the last epoch, of at most 16 steps
    for (const rank i : {0u, 1u, 3u})
      for (auto t = r.seen_by(i).size() - 32; t < r.seen_by(i).size(); ++t)
        trained.insert(r.seen_by(i)[t].begin(), r.seen_by(i)[t].end());
    EXPECT_EQ(trained.size(), 400u);
  }
}

TEST_P(every_synchronous_algorithm, gives_them_back_to_who_comes_back) {
  run_with_a_loss r{GetParam()};
  for (std::uint64_t interleaving = 0; interleaving < 5; ++interleaving) {
    EXPECT_EQ(r.run(0.04, interleaving).summary.lost, 1u);
    const auto steps = r.changes(0);
    ASSERT_EQ(steps.size(), 2u);
    EXPECT_EQ(r.changes(1), steps);
    EXPECT_EQ(r.changes(3), steps);
    const auto& mine = r.seen_by(lost); // the lost worker has left some steps out
    ASSERT_GT(mine.size(), 40u);
    ASSERT_LT(mine.size(), r.seen_by(0).size());
    for (std::size_t k = 0; k < 30; ++k) {
      const auto t = r.seen_by(0).size() - 1 - k;
      EXPECT_EQ(mine[mine.size() - 1 - k], r.in_step(t, lost, r.first_share(lost)));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, every_synchronous_algorithm,
                         testing::Values("all-reduce-sgd", "d-psgd", "ecd-psgd", "cser:period=4", "marsit:period=5",
                                         "local-sgd:period=4"));

// Labels dealt out move as well: a survivor learns labels that it never had.
TEST(samples_of_the_lost, move_whatever_the_partition) {
  run_with_a_loss r{"d-psgd", 120, "label:per-worker=1"};
  r.run(std::nullopt);
  EXPECT_EQ(r.changes(0).size(), 1u);
  std::set<std::uint32_t> taken;
  for (const rank i : {0u, 1u, 3u}) {
    const auto share = r.share_without_the_lost(i);
    taken.insert(share.begin() + static_cast<std::ptrdiff_t>(r.first_share(i).size()), share.end());
  }
  EXPECT_EQ(taken, (std::set<std::uint32_t>{r.first_share(lost).begin(), r.first_share(lost).end()}));
}

TEST(samples_of_the_lost, move_at_once_where_nobody_waits) {
  run_with_a_loss r{"ad-psgd", 120};
  r.run(0.04);
  for (const rank i : {0u, 1u, 3u})
    EXPECT_EQ(r.changes(i).size(), 2u);
  const minibatch& own = r.first_share(lost);
  const std::set<std::uint32_t> mine{own.begin(), own.end()};
  for (const auto& batch : r.seen_by(lost))
    for (const auto sample : batch)
      EXPECT_TRUE(mine.contains(sample));
}

} // namespace
} // namespace gossamer::actors
