// Real actors in real threads with workers on a GPU, whose kernels run thread by thread on the processor. The workers
// train beside workers without a GPU, and when the GPU is lost, at any moment, the others go on without them.
#include "gossamer/actors/real_time/local_world.hpp"
#include "gossamer/actors/simulated/simulated_world.hpp"

#include <gmock/gmock.h>

#include <cmath>

#include "support/host_device.hpp"

namespace gossamer::test {
namespace {

using actors::experiment;

constexpr std::size_t workers = 4;

std::shared_ptr<experiment> small_run(const std::string& algorithm, std::uint64_t steps) {
  actors::run_settings s;
  s.algorithm = algorithm;
  s.model = "logistic";
  s.data = "logistic:samples=200,test=50,features=20";
  s.workers = workers;
  s.batch = 8;
  s.steps = steps;
  s.lr = 0.1;
  return std::make_shared<experiment>(*actors::prepare(s));
}

class workers_on_a_device : public testing::TestWithParam<const char*> {};

/// Prepares a run of two workers with a device and two without one.
std::shared_ptr<experiment> mixed_run(const std::string& algorithm) {
  const auto e = small_run(algorithm, 60);
  const auto device = on_host_engine(*e, host_engine{{.threads = 32}, 1, 0});
  e->devices = {device, e->host, device, e->host};
  return e;
}

TEST_P(workers_on_a_device, train_beside_workers_on_the_processor) {
  const auto e = mixed_run(GetParam());
  const auto summary = actors::run_locally(e);
  EXPECT_EQ(summary.end, actors::run_end::planned);
  EXPECT_EQ(summary.lost, 0u);
  EXPECT_GE(summary.final.step, 60 * workers);
  EXPECT_TRUE(std::isfinite(summary.final.train_loss));
}

/// Threads do not decide the staleness of gradients in the simulated world.
TEST_P(workers_on_a_device, learn_beside_workers_on_the_processor) {
  const auto summary = actors::simulate(mixed_run(GetParam()), {}).summary;
  EXPECT_EQ(summary.end, actors::run_end::planned);
  EXPECT_GT(summary.final.test_accuracy, 0.8);
}

/// The next user of the device finds the loss: the compute actor, the worker that encodes, decodes, updates or saves
/// its state, or the evaluation, which uses the device of worker 0.
TEST_P(workers_on_a_device, are_lost_with_it_and_leave_the_others_alone) {
  constexpr std::uint64_t steps = 30;
  std::uint64_t lost = 0;
  for (const std::size_t there : {0u, 1u})
    for (std::int64_t operations = 40; operations < 400; operations += 17) {
      SCOPED_TRACE(testing::Message() << "worker " << there << " loses its device after " << operations
                                      << " operations");
      const auto e = small_run(GetParam(), steps);
      host_engine engine{{.threads = 32}, 1, 0};
      engine.lose_after(operations);
      e->devices.assign(workers, e->host);
      e->devices[there] = on_host_engine(*e, engine);
      actors::simulation_settings quiet;
      quiet.check = false;
      const auto summary = actors::simulate(e, quiet).summary;
      EXPECT_EQ(summary.end, actors::run_end::planned);
      EXPECT_LE(summary.lost, 1u);
      EXPECT_GE(summary.steps_per_worker[2], steps);
      EXPECT_TRUE(std::isfinite(summary.final.train_loss));
      lost += summary.lost;
    }
  EXPECT_GT(lost, 20u);
}

INSTANTIATE_TEST_SUITE_P(algorithms, workers_on_a_device,
                         testing::Values("all-reduce-sgd", "ad-psgd", "d-psgd", "dcd-psgd", "cser", "marsit",
                                         "async-sgd"),
                         [](const auto& name) {
                           std::string result = name.param;
                           std::ranges::replace(result, '-', '_');
                           return result;
                         });

} // namespace
} // namespace gossamer::test
