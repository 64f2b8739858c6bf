// Whole runs of every algorithm on a GPU, whose kernels are run thread by thread on the processor: whether vectors stay
// there or are brought to the host after each gradient, everybody computes and sends the same.
#include "gossamer/actors/simulation/simulated_world.hpp"
#include "gossamer/compress/cuda/detail/coder_on.hpp"
#include "gossamer/compute/cuda/detail/device_network.hpp"
#include "gossamer/compute/cuda/detail/updates_on.hpp"

#include <gmock/gmock.h>

#include "spellings.hpp"
#include "support/host_engine.hpp"

namespace gossamer::test {
namespace {

using actors::experiment;
using twin = compute::cuda::device_network<host_engine>;

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
};

finished_run run(const std::string& algorithm, bool stays) {
  actors::run_settings s;
  s.algorithm = algorithm;
  s.model = "logistic:l2=0.01,l1=0.001";
  s.data = "logistic:samples=100,test=20,features=37";
  s.workers = 4;
  s.batch = 4;
  s.steps = 12;
  const auto e = std::make_shared<experiment>(*actors::prepare(s));
  twin::data_sets sets;
  const compute::cuda::updates_on<host_queue> updates;
  const auto seen = std::make_shared<places>();
  const auto& host = dynamic_cast<const compute::detail::network&>(*e->host.model);
  std::shared_ptr<compute::optimiser> optimiser = e->host.optimiser->clone();
  optimiser->update_with(updates);
  auto model = std::make_unique<twin>(host, host_engine{{.threads = 32}, 1, 0}, sets);
  const auto home = std::make_shared<host_queue>(cuda::launch_policy{32}, 1, 0);
  e->devices = {{.where = cuda::device{0},
                 .model = std::make_shared<watched_model>(std::move(model), seen, stays),
                 .optimiser = optimiser}};
  if (stays) {
    e->devices[0].coder = std::make_shared<const compress::cuda::coder_on<host_queue>>();
    e->devices[0].place = [home](const vec& x) { return vec{cuda::queue_vec<host_queue>::in(home, x)}; };
  }
  return {actors::simulate(e, {}), *seen};
}

class every_algorithm_on_a_device : public testing::TestWithParam<std::string> {};

TEST_P(every_algorithm_on_a_device, computes_and_sends_the_same) {
  const auto there = run(GetParam(), true), brought_home = run(GetParam(), false);
  EXPECT_EQ(there.result.hash, brought_home.result.hash);
  EXPECT_EQ(there.result.events, brought_home.result.events);
  EXPECT_EQ(there.result.summary.final.train_loss, brought_home.result.summary.final.train_loss);
  EXPECT_EQ(brought_home.seen.on_device, 0u);
  std::cout << "SEEN " << GetParam() << " " << there.seen.on_device << " of " << there.seen.gradients << "\n";
}

INSTANTIATE_TEST_SUITE_P(algorithms, every_algorithm_on_a_device,
                         testing::ValuesIn(testing_support::every_spelling()),
                         [](const auto& spec) { return testing_support::as_test_name(spec.param); });

} // namespace
} // namespace gossamer::test
