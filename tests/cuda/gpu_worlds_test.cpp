// Whole runs on a GPU. Every case is skipped, with the reason, where there is none.
#include "gossamer/actors/real_time/local_world.hpp"
#include "gossamer/testing/spellings.hpp"

#include <cmath>

#include "cuda/world_cases.hpp"
#include "support/gpu_test.hpp"

namespace gossamer::test {
namespace {

actors::device_parts on_gpu(const experiment& e) {
  auto settings = e.settings;
  settings.device = "cuda:0";
  return actors::prepare(settings)->devices.front();
}

class gpu_world : public gpu_test<std::string> {};

TEST_P(gpu_world, computes_and_sends_the_same_wherever_vectors_are) {
  expect_the_same_run_wherever_vectors_are(GetParam(), on_gpu);
}

TEST_P(gpu_world, survives_faults_alike) { expect_faults_to_be_survived_alike(GetParam(), on_gpu); }

TEST_P(gpu_world, learns_beside_workers_on_the_processor) {
  actors::run_settings s;
  s.algorithm = GetParam();
  s.device = "cuda:0+cpu";
  s.data = "digits:samples=2000,test=500";
  s.epochs = 20;
  const auto e = actors::prepare(s);
  const auto summary = actors::run_locally(e);
  EXPECT_EQ(summary.end, actors::run_end::planned);
  EXPECT_EQ(summary.lost, 0u);
  EXPECT_TRUE(std::isfinite(summary.final.train_loss));
  EXPECT_GT(actors::simulate(e, {}).summary.final.test_accuracy, 0.5); // threads do not decide there how stale x is
}

INSTANTIATE_TEST_SUITE_P(algorithms, gpu_world,
                         testing::Values("all-reduce-sgd", "ad-psgd", "d-psgd", "dcd-psgd", "cser", "marsit",
                                         "sign-sgd", "asy-lpg"),
                         [](const auto& spec) { return testing_support::as_test_name(spec.param); });

} // namespace
} // namespace gossamer::test
