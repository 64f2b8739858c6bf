// Whole runs of every algorithm on a GPU, whose kernels run thread by thread on the processor.
#include "gossamer/testing/spellings.hpp"

#include <gmock/gmock.h>

#include <limits>

#include "cuda/world_cases.hpp"
#include "support/host_device.hpp"

namespace gossamer::test {
namespace {

parts_maker on(const host_engine& engine) {
  return [engine](const experiment& e) { return on_host_engine(e, engine); };
}

class every_algorithm_on_a_device : public testing::TestWithParam<std::string> {
protected:
  parts_maker device_ = on(host_engine{{.threads = 32}, 1, 0});
};

TEST_P(every_algorithm_on_a_device, computes_and_sends_the_same) {
  expect_the_same_run_wherever_vectors_are(GetParam(), device_);
}

TEST_P(every_algorithm_on_a_device, survives_faults_alike) { expect_faults_to_be_survived_alike(GetParam(), device_); }

TEST_P(every_algorithm_on_a_device, does_not_depend_on_when_the_device_works) {
  const auto at_once = run(GetParam(), device_, true);
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    host_engine engine{{.threads = 32}, 1, 0};
    engine.work_late(late_device::make(seed));
    const auto late = run(GetParam(), on(engine), true);
    EXPECT_EQ(late.result.hash, at_once.result.hash) << "seed " << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(algorithms, every_algorithm_on_a_device, testing::ValuesIn(testing_support::every_spelling()),
                         [](const auto& spec) { return testing_support::as_test_name(spec.param); });

/// Vectors of floats that may cross to and from the device for each gradient: packets sent and received. Samples,
/// blocks, losses and scales cross as well, but are small.
struct crossing_limit {
  std::string algorithm;
  double up, down;
  std::string codec = "auto";

  friend void PrintTo(const crossing_limit& c, std::ostream* out) { *out << c.algorithm; }
};

constexpr double little = 0.03;

class resident_algorithm : public testing::TestWithParam<crossing_limit> {};

struct crossed_bytes {
  std::uint64_t gradients, uploaded, downloaded;
};

crossed_bytes crossed_in(std::uint64_t steps, const crossing_limit& c) {
  const host_engine engine{{.threads = 32}, 1, 0};
  const auto there = run(c.algorithm, on(engine), true, {}, c.codec, steps);
  EXPECT_EQ(there.seen.on_device, there.seen.gradients);
  return {there.seen.gradients, engine.crossed().uploaded, engine.crossed().downloaded};
}

/// Compares with a run that is longer by 24 steps, so the data, the first x and the last snapshot do not count.
TEST_P(resident_algorithm, keeps_x_on_the_device_and_exchanges_packets_only) {
  const auto before = crossed_in(12, GetParam()), after = crossed_in(36, GetParam());
  const auto vectors = [&](std::uint64_t bytes) {
    return static_cast<double>(bytes) / sizeof(float) / dimension
           / static_cast<double>(after.gradients - before.gradients);
  };
  const double up = vectors(after.uploaded - before.uploaded), down = vectors(after.downloaded - before.downloaded);
  EXPECT_LT(up, GetParam().up + little);
  EXPECT_LT(down, GetParam().down + little);
}

constexpr double byte = 0.25, bit = 1.0 / 32;                 // an element, as part of a vector of floats
constexpr auto any = std::numeric_limits<double>::infinity(); // unbounded while a gradient is under way

// Blocks are few, because the place of a block takes more than an element does.
const std::string resets = "c1=grbs/ratio=4/blocks=4", both = resets + ",c2=grbs/ratio=32/blocks=32";
constexpr double reset = 1.0 / 4 / 12, reset_and_updates = reset + 1.0 / 32; // one reset in 12 steps

const std::vector<crossing_limit> limits{
    {"all-reduce-sgd", 1, 1},
    {"ad-psgd", any, any},
    {"d-psgd", 2, 1},
    {"dcd-psgd", 3 * byte, byte},
    {"ecd-psgd", 3 * byte, byte},
    {"marsit", bit, bit},
    {"sign-sgd", bit, bit},
    {"ef-sign-sgd", 5 * bit, bit},
    {"ssdm", 1, bit},
    {"cser:" + both, reset_and_updates, reset_and_updates},
    {"cser:implementation=model," + both, reset_and_updates, reset_and_updates},
    {"cser:implementation=model-blocks," + both, reset_and_updates, reset_and_updates},
    {"m-cser:" + both, reset_and_updates, reset_and_updates},
    {"cser-pl:" + resets, reset, reset},
    {"csea:c1=grbs/ratio=16/blocks=16", 1.0 / 16, 1.0 / 16},
    {"ef-sgd", 1.0 / 16, 1.0 / 16, "grbs:ratio=16,blocks=16"},
    {"qsparse-local-sgd:period=4", 1.0 / 16, 1.0 / 16, "grbs:ratio=4,blocks=4"},
};

INSTANTIATE_TEST_SUITE_P(algorithms, resident_algorithm, testing::ValuesIn(limits),
                         [](const auto& limit) { return testing_support::as_test_name(limit.param.algorithm); });

} // namespace
} // namespace gossamer::test
