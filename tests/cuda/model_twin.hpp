#pragma once

#include "gossamer/compute/model.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <future>
#include <limits>
#include <string>

#include "support/small_data.hpp"

// The promises of a model on a GPU, for any way to make one: `twin_of(model)`.
namespace gossamer::test {

using twin_maker = std::function<std::unique_ptr<compute::model>(const compute::model&)>;

struct model_case {
  std::string name, spec;
  std::size_t classes;
  std::size_t features = 45;
};

inline std::vector<model_case> model_cases() {
  return {{"linear", "linear:l1=0.1,l2=0.2", 0},
          {"logistic", "logistic:l2=0.1", 2},
          {"logistic_of_many_features", "logistic", 2, 600},
          {"softmax", "softmax", 3},
          {"softmax_of_more_than_a_warp", "softmax:l2=0.01", 70},
          {"relu", "mlp:hidden=40", 10},
          {"wide_relu", "mlp:hidden=300", 3, 20},
          {"deep_relu_for_real_targets", "mlp:hidden=20+7+33,l2=0.1", 0},
          {"deep_tanh", "mlp:hidden=12+33+5,activation=tanh,l2=0.05", 4}};
}

inline std::string case_as_name(const testing::TestParamInfo<model_case>& info) { return info.param.name; }

/// A model on both devices, and a point at which to compare them.
struct model_pair {
  model_pair(const model_case& c, const twin_maker& twin_of)
      : dense(support::small_data(300, c.features, c.classes)), sparse(support::as_sparse(dense)),
        host(compute::make_model(c.spec, dense)), twin(twin_of(*host)), x(host->dimension()) {
    host->initial_point(x, {1, 0, purpose::initial});
    random_sequence noise{{2, 0, purpose::synthetic}, 0};
    for (float& v : x)
      v += 0.1f * noise.uniform() - 0.05f;
  }

  compute::dataset dense, sparse;
  std::unique_ptr<compute::model> host, twin;
  std::vector<float> x;
};

/// Returns samples in no order, some of them twice.
inline std::vector<std::uint32_t> some_indices(std::size_t count) {
  std::vector<std::uint32_t> indices(count);
  for (std::size_t i = 0; i < count; ++i)
    indices[i] = static_cast<std::uint32_t>((i * 7 + i / 50 + 3) % 300);
  return indices;
}

struct step_result {
  double loss;
  std::vector<float> gradient;

  friend bool operator==(const step_result&, const step_result&) = default;
};

inline step_result step(compute::model& m, std::span<const float> x, const compute::dataset& data,
                        std::span<const std::uint32_t> indices) {
  step_result result{0, std::vector<float>(m.dimension(), -1.0f)}; // old contents must not matter
  result.loss = m.loss_and_gradient(x, {data, indices}, result.gradient);
  return result;
}

inline float largest(std::span<const float> v) {
  float result = 0;
  for (const float e : v)
    result = std::max(result, std::fabs(e));
  return result;
}

/// Expects a loss that is off by less than 1e-5 of it, and elements of the gradient off by at most 1e-5 of the largest.
inline void expect_close(const step_result& actual, const step_result& expected) {
  EXPECT_NEAR(actual.loss, expected.loss, 1e-5 * std::fabs(expected.loss));
  auto differences = actual.gradient;
  for (std::size_t i = 0; i < differences.size(); ++i)
    differences[i] -= expected.gradient[i];
  EXPECT_LE(largest(differences), 1e-5f * largest(expected.gradient));
  EXPECT_TRUE(std::ranges::all_of(differences, [](float d) { return std::isfinite(d); }));
}

inline void expect_gradients_of_the_processor(const model_case& c, const twin_maker& twin_of) {
  model_pair pair{c, twin_of};
  for (const auto* data : {&pair.dense, &pair.sparse})
    for (const std::size_t count : {3u, 257u, 1u}) { // memory grows, and is then larger than needed
      SCOPED_TRACE(std::to_string(count) + (data->sparse() ? " sparse samples" : " dense samples"));
      const auto indices = some_indices(count);
      expect_close(step(*pair.twin, pair.x, *data, indices), step(*pair.host, pair.x, *data, indices));
    }
}

/// Compares evaluations, also with equal outputs, where ties decide the accuracy.
inline void expect_evaluations_of_the_processor(const model_case& c, const twin_maker& twin_of) {
  model_pair pair{c, twin_of};
  for (const auto& x : {pair.x, std::vector<float>(pair.x.size())})
    for (const auto* data : {&pair.dense, &pair.sparse})
      for (const std::size_t count : {1u, 300u}) {
        const auto indices = some_indices(count);
        const auto actual = pair.twin->evaluate(x, {*data, indices});
        const auto expected = pair.host->evaluate(x, {*data, indices});
        EXPECT_NEAR(actual.loss, expected.loss, 1e-5 * expected.loss);
        EXPECT_EQ(actual.accuracy, expected.accuracy);
      }
}

inline void expect_the_form_of_the_processor(const model_case& c, const twin_maker& twin_of) {
  const model_pair pair{c, twin_of};
  EXPECT_EQ(pair.twin->dimension(), pair.host->dimension());
  const auto actual = pair.twin->tensors(), expected = pair.host->tensors();
  EXPECT_TRUE(std::ranges::equal(
      actual, expected, [](const auto& a, const auto& b) { return a.rows == b.rows && a.columns == b.columns; }));
  std::vector<float> from_twin(pair.x.size()), from_host(pair.x.size());
  pair.twin->initial_point(from_twin, {7, 0, purpose::initial});
  pair.host->initial_point(from_host, {7, 0, purpose::initial});
  EXPECT_EQ(from_twin, from_host);
  buffer_pool pool;
  vec moved_by_twin{pool, pair.x}, moved_by_host = moved_by_twin;
  vec moved_on_device = zeros_like(pair.twin->start_gradient(moved_by_twin, {pair.dense, some_indices(1)})().gradient);
  moved_on_device += moved_by_twin;
  pair.twin->proximal_step(moved_by_twin, 0.1f);
  pair.twin->proximal_step(moved_on_device, 0.1f);
  pair.host->proximal_step(moved_by_host, 0.1f);
  EXPECT_EQ(moved_by_twin, moved_by_host);
  EXPECT_EQ(moved_on_device, moved_by_host);
  EXPECT_TRUE(moved_on_device.remote() != nullptr);
}

/// Expects NaN in x to reach the loss and all elements that depend on it.
inline void expect_nan_passes(const model_case& c, const twin_maker& twin_of) {
  model_pair pair{c, twin_of};
  const auto indices = some_indices(5);
  pair.x.back() = std::numeric_limits<float>::quiet_NaN(); // the last output's bias
  for (const auto* data : {&pair.dense, &pair.sparse}) {
    const auto actual = step(*pair.twin, pair.x, *data, indices), expected = step(*pair.host, pair.x, *data, indices);
    EXPECT_TRUE(std::isnan(expected.loss) && std::isnan(actual.loss));
    for (std::size_t i = 0; i < actual.gradient.size(); ++i)
      ASSERT_EQ(std::isnan(actual.gradient[i]), std::isnan(expected.gradient[i])) << i;
    EXPECT_TRUE(std::isnan(pair.twin->evaluate(pair.x, {*data, indices}).loss));
  }
}

/// Expects gradients to stay on the device. Several may be under way at a time, and callers compute with them there.
inline void expect_gradients_to_stay_on_the_device(const model_case& c, const twin_maker& twin_of) {
  model_pair pair{c, twin_of};
  const auto indices = some_indices(40), others = some_indices(9);
  const auto expected = step(*pair.twin, pair.x, pair.dense, indices);
  const auto expected_of_others = step(*pair.twin, pair.x, pair.sparse, others);
  buffer_pool pool;
  vec x{pool, pair.x};
  for (int round = 0; round < 2; ++round) { // x is on the host, and then on the device
    auto first = pair.twin->start_gradient(x, {pair.dense, indices});
    auto second = pair.twin->start_gradient(x, {pair.sparse, others});
    std::promise<void> done;
    ASSERT_TRUE(pair.twin->when_done([&] { done.set_value(); }));
    done.get_future().wait();
    const auto [g, loss] = first();
    const auto [h, other_loss] = second();
    ASSERT_TRUE(g.remote() && g.remote()->on_device());
    EXPECT_EQ(loss, expected.loss);
    EXPECT_EQ(other_loss, expected_of_others.loss);
    EXPECT_TRUE(std::ranges::equal(g.view(), expected.gradient));
    EXPECT_TRUE(std::ranges::equal(h.view(), expected_of_others.gradient));
    const vec moved = x - 0.5f * g;
    EXPECT_EQ(moved, (vec{pool, pair.x} - 0.5f * on_host(g)));
    x = zeros_like(g) + vec{pool, pair.x};
    EXPECT_TRUE(x.remote() != nullptr);
  }
  pair.twin->start_gradient(x, {pair.dense, indices}); // the result is never asked for
}

/// Expects a clone to compute the same bits, whatever the other model has computed meanwhile.
inline void expect_clones_to_be_apart(const model_case& c, const twin_maker& twin_of) {
  model_pair pair{c, twin_of};
  const auto other = pair.twin->clone();
  const auto one = some_indices(40), two = some_indices(9);
  for (const auto* data : {&pair.dense, &pair.sparse}) {
    const auto first = step(*pair.twin, pair.x, *data, one);
    step(*other, pair.x, *data, two);
    EXPECT_EQ(step(*pair.twin, pair.x, *data, one), first);
    EXPECT_EQ(step(*other, pair.x, *data, one), first);
  }
}

} // namespace gossamer::test
