// Whole runs of every algorithm on a GPU, whose kernels are run thread by thread on the processor: whether vectors stay
// there or are brought to the host after each gradient, everybody computes and sends the same.
#include "gossamer/actors/faults/chaos.hpp"
#include "gossamer/actors/simulation/simulated_world.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <limits>

#include "spellings.hpp"
#include "support/host_device.hpp"

namespace gossamer::test {
namespace {

using actors::experiment;

constexpr std::size_t features = 999, dimension = features + 1, train_samples = 100, test_samples = 1;
constexpr auto data_bytes = sizeof(float) * (train_samples + test_samples) * dimension; // with the targets

/// Where gradients were asked for and given.
struct places {
  std::uint64_t gradients = 0, on_device = 0;
};

/// A model on the device that says where its callers keep x, or leaves them nothing on the device.
class watched_model final : public compute::model {
public:
  watched_model(std::unique_ptr<compute::model> m, std::shared_ptr<places> seen, bool stays)
      : model_(std::move(m)), seen_(std::move(seen)), stays_(stays) {}

  std::size_t dimension() const override { return model_->dimension(); }
  std::vector<tensor_shape> tensors() const override { return model_->tensors(); }
  void initial_point(std::span<float> x, const random_stream& random) const override {
    model_->initial_point(x, random);
  }
  double loss_and_gradient(std::span<const float> x, const compute::batch& samples,
                           std::span<float> gradient) override {
    return model_->loss_and_gradient(x, samples, gradient);
  }
  std::function<compute::gradient_and_loss()> start_gradient(const vec& x, const compute::batch& samples) override {
    ++seen_->gradients;
    seen_->on_device += x.elsewhere() && x.elsewhere()->on_device() ? 1 : 0;
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
  std::uint64_t uploaded, downloaded;
  std::size_t masters;
};

finished_run run(const std::string& algorithm, bool stays, const actors::fault_plan& faults = {}) {
  actors::run_settings s;
  s.algorithm = algorithm;
  s.model = "logistic:l2=0.01,l1=0.001";
  s.data = fmt::format("logistic:samples={},test={},features={}", train_samples, test_samples, features);
  s.workers = 4;
  s.batch = 4;
  s.steps = 12;
  s.eval_every = 1000;
  const auto e = std::make_shared<experiment>(*actors::prepare(s));
  const auto seen = std::make_shared<places>();
  const host_engine engine{{.threads = 32}, 1, 0};
  auto parts = on_host_engine(*e, engine);
  parts.model = std::make_shared<watched_model>(parts.model->clone(), seen, stays);
  if (!stays)
    parts.make_coder = e->host.make_coder;
  e->devices = {std::move(parts)};
  actors::simulation_settings quiet;
  quiet.check = false; // its claims read the vectors
  quiet.sample_time_s = 1e-3;
  quiet.detection_s = 2e-3;
  const auto result = actors::simulate(e, quiet, {.faults = faults});
  return {result, *seen, engine.crossed().uploaded, engine.crossed().downloaded, e->masters};
}

class every_algorithm_on_a_device : public testing::TestWithParam<std::string> {};

TEST_P(every_algorithm_on_a_device, computes_and_sends_the_same) {
  const auto there = run(GetParam(), true), brought_home = run(GetParam(), false);
  EXPECT_EQ(there.result.hash, brought_home.result.hash);
  EXPECT_EQ(there.result.events, brought_home.result.events);
  EXPECT_EQ(there.result.summary.final.train_loss, brought_home.result.summary.final.train_loss);
  EXPECT_EQ(brought_home.seen.on_device, 0u);
}

/// Whoever starts anew takes the state of another to its device.
TEST_P(every_algorithm_on_a_device, survives_faults_alike) {
  const auto untroubled = run(GetParam(), true);
  const double horizon = 0.5 * untroubled.result.summary.final.time_s;
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    const auto plan = actors::draw_plan(seed, {.workers = 4, .masters = untroubled.masters, .horizon_s = horizon});
    EXPECT_EQ(run(GetParam(), true, plan).result.hash, run(GetParam(), false, plan).result.hash) << "plan " << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(algorithms, every_algorithm_on_a_device, testing::ValuesIn(testing_support::every_spelling()),
                         [](const auto& spec) { return testing_support::as_test_name(spec.param); });

/// Vectors of floats that may cross for each gradient, to the device and from there: what is sent and received. A
/// little more does: the first x and the last snapshot, losses and scales.
struct crossing_limit {
  const char* algorithm;
  double up, down;

  friend void PrintTo(const crossing_limit& c, std::ostream* out) { *out << c.algorithm; }
};

constexpr double little = 0.15;

class resident_algorithm : public testing::TestWithParam<crossing_limit> {};

TEST_P(resident_algorithm, keeps_x_on_the_device_and_exchanges_packets_only) {
  const auto there = run(GetParam().algorithm, true);
  EXPECT_EQ(there.seen.on_device, there.seen.gradients);
  const auto vectors = [&](std::uint64_t bytes) {
    return static_cast<double>(bytes) / sizeof(float) / dimension / static_cast<double>(there.seen.gradients);
  };
  EXPECT_LT(vectors(there.uploaded - data_bytes), GetParam().up + little);
  EXPECT_LT(vectors(there.downloaded), GetParam().down + little);
}

constexpr double byte = 0.25, bit = 1.0 / 32;                 // an element, of a vector of floats
constexpr auto any = std::numeric_limits<double>::infinity(); // while a gradient is under way

INSTANTIATE_TEST_SUITE_P(algorithms, resident_algorithm,
                         testing::Values(crossing_limit{"all-reduce-sgd", 1, 1}, crossing_limit{"ad-psgd", any, any},
                                         crossing_limit{"d-psgd", 2, 1}, crossing_limit{"dcd-psgd", 3 * byte, byte},
                                         crossing_limit{"ecd-psgd", 3 * byte, byte},
                                         crossing_limit{"marsit", 5 * bit, 4 * bit},
                                         crossing_limit{"sign-sgd", 2 * bit, 2 * bit},
                                         crossing_limit{"ef-sign-sgd", 8 * bit, 2 * bit}),
                         [](const auto& limit) { return testing_support::as_test_name(limit.param.algorithm); });

} // namespace
} // namespace gossamer::test
