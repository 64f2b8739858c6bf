// The time that a random plan of faults is drawn for.
#include "gossamer/apps/detail/setup.hpp"

#include <gmock/gmock.h>

namespace gossamer::apps {
namespace {

class horizon : public testing::Test {
protected:
  horizon() {
    options_.run.model = "quadratic";
    options_.run.data = "quadratic:samples=400,dim=20";
    options_.run.algorithm = "d-psgd";
    options_.run.optimiser = "sgd";
    options_.run.lr = 0.02;
    options_.run.batch = 4;
    options_.run.steps = 200;
    options_.run.workers = 4;
    options_.chaos = 7;
  }

  double on(const std::string& network) {
    options_.world.network = network;
    return set_up_simulation(program_, options_).options.horizon_s.value();
  }

  static constexpr double gradient_s = 4 * 2e-5, guess_s = 1.5 * 200 * gradient_s;
  const program program_{"gossamer", {}};
  run_options options_;
};

TEST_F(horizon, is_a_guess_from_the_gradients_where_the_network_is_fast) {
  for (const char* network : {"ideal", "datacentre", "tang-best"})
    EXPECT_DOUBLE_EQ(on(network), guess_s) << network;
}

TEST_F(horizon, is_the_length_of_the_run_where_the_network_is_slow) {
  const double latency_s = 0.1;
  const auto found = on("uniform:latency=0.1");
  EXPECT_NEAR(found, 200 * (latency_s + gradient_s), 0.1 * found);
  options_.run.seed = 2;
  options_.world.interleaving = 5;
  EXPECT_EQ(on("uniform:latency=0.1"), found) << "the horizon is that of all seeds";
}

TEST_F(horizon, of_a_long_run_is_what_its_begin_lets_expect) {
  options_.run.steps = 20'000;
  const auto found = on("uniform:latency=0.1");
  EXPECT_NEAR(found, 20'000 * (0.1 + gradient_s), 0.1 * found);
}

TEST_F(horizon, is_that_of_the_gradients_where_workers_do_not_wait_for_a_slow_network) {
  options_.run.algorithm = "ad-psgd";
  options_.run.steps = 20'000;
  EXPECT_DOUBLE_EQ(on("uniform:latency=0.1"), 100 * guess_s);
}

TEST_F(horizon, is_no_longer_than_the_run_may_last) {
  options_.run.steps.reset();
  options_.run.seconds = 0.5;
  EXPECT_DOUBLE_EQ(on("uniform:latency=0.1"), 0.5);
}

} // namespace
} // namespace gossamer::apps
