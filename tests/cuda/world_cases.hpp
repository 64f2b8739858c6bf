#pragma once

#include "gossamer/actors/faults/chaos.hpp"
#include "gossamer/actors/simulated/simulated_world.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

// The promises of whole runs on a device, for any device.
namespace gossamer::test {

using actors::experiment;

inline constexpr std::size_t features = 999, dimension = features + 1, train_samples = 100, test_samples = 1;

/// Number of gradients, and of those whose x was on the device.
struct places {
  std::uint64_t gradients = 0, on_device = 0;
};

/// A model on the device that counts where its callers keep x. Unless `stays`, its gradients return to the host.
class watched_model final : public compute::model {
public:
  watched_model(std::unique_ptr<compute::model> m, std::shared_ptr<places> seen, bool stays)
      : model_(std::move(m)), seen_(std::move(seen)), stays_(stays) {}

  std::size_t dimension() const override { return model_->dimension(); }
  std::vector<tensor_shape> tensors() const override { return model_->tensors(); }
  std::vector<std::string> tensor_names() const override { return model_->tensor_names(); }
  void initial_point(std::span<float> x, const random_stream& random) const override {
    model_->initial_point(x, random);
  }
  double loss_and_gradient(std::span<const float> x, const compute::batch& samples,
                           std::span<float> gradient) override {
    return model_->loss_and_gradient(x, samples, gradient);
  }
  std::function<compute::gradient_and_loss()> start_gradient(const vec& x, const compute::batch& samples) override {
    ++seen_->gradients;
    seen_->on_device += x.remote() && x.remote()->on_device() ? 1 : 0;
    return [finish = model_->start_gradient(x, samples), stays = stays_] {
      auto result = finish();
      if (!stays)
        result.gradient = on_host(result.gradient);
      return result;
    };
  }
  compute::evaluation evaluate(std::span<const float> x, const compute::batch& samples) override {
    return model_->evaluate(x, samples);
  }
  void proximal_step(vec& x, float step) const override { model_->proximal_step(x, step); }
  std::unique_ptr<compute::model> clone() const override {
    return std::make_unique<watched_model>(model_->clone(), seen_, stays_);
  }

private:
  std::unique_ptr<compute::model> model_;
  std::shared_ptr<places> seen_;
  bool stays_;
};

struct finished_run {
  actors::simulation_result result;
  places seen;
  std::size_t masters;
};

/// Makes the parts of a run's workers that are on a device.
using parts_maker = std::function<actors::device_parts(const experiment&)>;

/// Simulates a run of four workers on one device.
inline finished_run run(const std::string& algorithm, const parts_maker& parts_of, bool stays,
                        const actors::fault_plan& faults = {}, const std::string& codec = "auto",
                        std::uint64_t steps = 12) {
  actors::run_settings s;
  s.algorithm = algorithm;
  s.codec = codec;
  s.model = "logistic:l2=0.01,l1=0.001";
  s.data = fmt::format("logistic:samples={},test={},features={}", train_samples, test_samples, features);
  s.workers = 4;
  s.batch = 4;
  s.steps = steps;
  s.eval_every = 1000;
  const auto e = std::make_shared<experiment>(*actors::prepare(s));
  const auto seen = std::make_shared<places>();
  auto parts = parts_of(*e);
  parts.model = std::make_shared<watched_model>(parts.model->clone(), seen, stays);
  if (!stays)
    parts.make_coder = e->host.make_coder;
  e->devices = {std::move(parts)};
  actors::simulation_settings quiet;
  quiet.check = false; // claims read the vectors
  quiet.cost = {};     // PSync's copies are counted on the host alone
  quiet.sample_time_s = 1e-3;
  quiet.detection_s = 2e-3;
  const auto result = actors::simulate(e, quiet, {.faults = faults});
  return {result, *seen, e->masters};
}

/// Expects the same results and messages whether vectors stay there or return to the host after each gradient.
inline void expect_the_same_run_wherever_vectors_are(const std::string& algorithm, const parts_maker& parts_of) {
  const auto there = run(algorithm, parts_of, true), brought_home = run(algorithm, parts_of, false);
  EXPECT_EQ(there.result.hash, brought_home.result.hash);
  EXPECT_EQ(there.result.events, brought_home.result.events);
  EXPECT_EQ(there.result.summary.final.train_loss, brought_home.result.summary.final.train_loss);
  EXPECT_EQ(brought_home.seen.on_device, 0u);
}

/// Expects the same under random faults. A worker that starts anew takes another's state to its device.
inline void expect_faults_to_be_survived_alike(const std::string& algorithm, const parts_maker& parts_of) {
  const auto untroubled = run(algorithm, parts_of, true);
  const double horizon = 0.5 * untroubled.result.summary.final.time_s;
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    const auto plan = actors::draw_plan(seed, {.workers = 4, .masters = untroubled.masters, .horizon_s = horizon});
    const auto there = run(algorithm, parts_of, true, plan), brought_home = run(algorithm, parts_of, false, plan);
    EXPECT_EQ(there.result.hash, brought_home.result.hash) << "plan " << seed;
  }
}

} // namespace gossamer::test
