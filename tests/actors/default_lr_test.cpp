#include "gossamer/actors/run/default_lr.hpp"
#include "gossamer/actors/run/experiment.hpp"

#include <gmock/gmock.h>

#include <cmath>

#include "support/dense_rows.hpp"

namespace gossamer::actors {
namespace {

/// Samples of two classes with ||x||^2 = `square_norm`.
compute::dataset samples_with(float square_norm, std::size_t classes = 2) {
  return {.samples = 2,
          .features = 1,
          .classes = classes,
          .dense = {std::sqrt(square_norm), -std::sqrt(square_norm)},
          .targets = {0, 1}};
}

double lr_of(std::size_t workers, const compute::dataset& data, const algorithm_traits& traits = {}) {
  return default_lr(traits, "momentum:beta=0.9", data, workers);
}

TEST(default_lr, grows_with_the_workers_as_far_as_the_features_allow) {
  const auto data = samples_with(100);
  EXPECT_EQ(lr_of(1, data), 0.01);
  EXPECT_EQ(lr_of(4, data), 0.04);
  EXPECT_EQ(lr_of(16, data), 0.08);
  EXPECT_EQ(default_lr({}, "adam", data, 4), 0.004);
}

TEST(default_lr, is_what_the_optimiser_suggests_when_features_are_large) {
  EXPECT_EQ(lr_of(16, samples_with(3072)), 0.01);
  EXPECT_EQ(default_lr({}, "momentum:beta=0.875", samples_with(3072), 16), 0.0125) << "no digit is lost";
}

TEST(default_lr, has_two_digits_when_it_grows) {
  EXPECT_EQ(lr_of(16, samples_with(101.3f)), 0.079);
  EXPECT_EQ(default_lr({}, "sgd", samples_with(63), 128), 1.3);
}

TEST(default_lr, does_not_grow_for_real_targets_or_without_features) {
  EXPECT_EQ(lr_of(16, samples_with(1, 0)), 0.01);
  EXPECT_EQ(lr_of(16, {.samples = 2, .classes = 2, .targets = {0, 1}}), 0.01);
}

TEST(default_lr, does_not_grow_for_algorithms_that_say_so) {
  const auto data = samples_with(1);
  EXPECT_EQ(lr_of(16, data, {.lr_grows = false}), 0.01);
  EXPECT_EQ(lr_of(16, data, {.default_lr = 0.002}), 0.002);
}

TEST(default_lr, is_the_same_for_bytes) {
  const auto bytes = support::with_bytes({.samples = 9, .features = 6, .classes = 2}, {{.divisor = 255}, {}});
  EXPECT_EQ(lr_of(16, bytes), lr_of(16, support::as_floats(bytes)));
  const auto small = support::with_bytes({.samples = 9, .features = 6, .classes = 2}, {{.divisor = 2550}});
  EXPECT_GT(lr_of(16, small), lr_of(1, small));
}

TEST(default_lr, is_the_same_for_sparse_features) {
  compute::dataset sparse{.samples = 2, .features = 9, .classes = 2};
  sparse.row_start = {0, 2, 3};
  sparse.columns = {1, 7, 4};
  sparse.values = {8, 6, 10};
  sparse.targets = {0, 1};
  EXPECT_EQ(lr_of(16, sparse), lr_of(16, samples_with(100)));
}

TEST(default_lr, is_written_down_with_the_run_and_kept_when_it_is_read_again) {
  const auto text =
      to_text(prepare(parse_run_settings("lr = 'auto'\ndata = 'digits:samples=100,test=10'", "here"))->settings);
  EXPECT_THAT(text, testing::HasSubstr("lr = 0.04\n"));
  auto grown = parse_run_settings(text, "there");
  grown.workers = 2;
  EXPECT_EQ(prepare(grown)->settings.lr, 0.04);
}

} // namespace
} // namespace gossamer::actors
