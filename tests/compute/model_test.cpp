#include "gossamer/compute/model.hpp"
#include "gossamer/compute/optimiser.hpp"

#include <gmock/gmock.h>

#include <cmath>

#include "support/small_data.hpp"
#include "support/usage_error.hpp"

namespace gossamer::compute {
namespace {

using gossamer::support::all_indices;
using gossamer::support::as_sparse;
using gossamer::support::dense_row;
using gossamer::support::small_data;
using testing::ElementsAre;
using testing::HasSubstr;

const random_stream start{1, 0, purpose::initial};

std::string usage_error(std::string_view text, const dataset& data) {
  return gossamer::usage_error([&] { make_model(text, data); });
}

std::vector<float> gradient_at(model& m, std::span<const float> x, const dataset& data) {
  std::vector<float> gradient(m.dimension());
  m.loss_and_gradient(x, {data, all_indices(data)}, gradient);
  return gradient;
}

/// Returns the objective after plain gradient descent on all samples.
evaluation train(std::string_view text, const dataset& data, int steps, float lr, std::string_view optimiser = "sgd") {
  const auto m = make_model(text, data);
  const auto descent = make_optimiser(optimiser);
  buffer_pool pool;
  vec x{pool, m->dimension()}, gradient{pool, m->dimension()};
  m->initial_point(x.mutate(), start);
  const auto indices = all_indices(data);
  for (int t = 0; t < steps; ++t) {
    m->loss_and_gradient(x.view(), {data, indices}, gradient.mutate());
    descent->step(x, gradient, lr);
    m->proximal_step(x, lr);
  }
  return m->evaluate(x.view(), {data, indices});
}

TEST(make_model, refuses_data_that_a_model_cannot_learn) {
  const auto real = small_data(4, 3, 0), two = small_data(4, 3, 2), ten = small_data(20, 3, 10);
  EXPECT_THAT(usage_error("logistic", real), HasSubstr("real targets; use linear"));
  EXPECT_THAT(usage_error("softmax", real), HasSubstr("real targets; use linear"));
  EXPECT_THAT(usage_error("logistic", ten), HasSubstr("the data has 10; use softmax"));
  EXPECT_THAT(usage_error("linear", two), HasSubstr("the data has 2 classes; use logistic"));
  EXPECT_THAT(usage_error("linear", ten), HasSubstr("the data has 10 classes; use softmax"));
  EXPECT_THAT(usage_error("quadratic:mu=2,l=1", real), HasSubstr("mu of model 'quadratic' is greater than l"));
}

TEST(make_model, refuses_wrong_parameters) {
  const auto data = small_data(4, 3, 2);
  EXPECT_THAT(usage_error("mpl", data), HasSubstr("did you mean 'mlp'?"));
  EXPECT_THAT(usage_error("mlp:hidden=", data), HasSubstr("whole number"));
  EXPECT_THAT(usage_error("mlp:hidden=0", data), HasSubstr("out of range"));
  EXPECT_THAT(usage_error("mlp:activation=step", data), HasSubstr("one of relu, tanh"));
  EXPECT_THAT(usage_error("softmax:l2=-1", data), HasSubstr("out of range"));
  EXPECT_THAT(usage_error("mlp:hidden=100000+100000", data), HasSubstr("more than 2147483647 parameters"));
}

TEST(make_model, shapes_the_model_for_the_data) {
  const auto real = small_data(20, 7, 0), two = small_data(20, 7, 2), ten = small_data(20, 7, 10);
  EXPECT_EQ(make_model("quadratic", real)->dimension(), 7u);
  EXPECT_EQ(make_model("linear", real)->dimension(), 8u);
  EXPECT_EQ(make_model("logistic", two)->dimension(), 8u);
  EXPECT_EQ(make_model("softmax", ten)->dimension(), 80u);
  EXPECT_EQ(make_model("mlp:hidden=5", ten)->dimension(), 7u * 5 + 5 + 5 * 10 + 10);
  EXPECT_EQ(make_model("mlp:hidden=5+4", real)->dimension(), 7u * 5 + 5 + 5 * 4 + 4 + 4 * 1 + 1);
}

TEST(quadratic, is_least_at_the_mean_of_the_rows) {
  for (const auto& data : {small_data(30, 5, 0), as_sparse(small_data(30, 5, 0))}) {
    const auto dense = small_data(30, 5, 0);
    std::vector<float> mean(5);
    for (std::size_t k = 0; k < 5; ++k) {
      double sum = 0;
      for (std::size_t i = 0; i < 30; ++i)
        sum += static_cast<double>(dense_row(dense, i)[k]);
      mean[k] = static_cast<float>(sum / 30);
    }
    const auto m = make_model("quadratic:mu=0.1,l=10", data);
    for (const float g : gradient_at(*m, mean, data))
      EXPECT_NEAR(g, 0, 1e-6);
  }
}

TEST(quadratic, has_log_spaced_curvature) {
  auto data = small_data(1, 3, 0);
  data.dense = {0, 0, 0};
  const auto m = make_model("quadratic:mu=0.25,l=4", data);
  const std::vector<float> ones{1, 1, 1};
  EXPECT_THAT(gradient_at(*m, ones, data), ElementsAre(0.25f, 1.0f, 4.0f));
  EXPECT_DOUBLE_EQ(m->evaluate(ones, {data, all_indices(data)}).loss, 0.5 * (0.25 + 1 + 4));
  auto single = small_data(1, 1, 0);
  single.dense = {0};
  EXPECT_THAT(gradient_at(*make_model("quadratic:mu=0.25,l=4", single), std::vector{1.0f}, single), ElementsAre(0.25f));
}

dataset one_sample(large_vector<float> row, std::size_t classes, float target) {
  dataset data;
  data.samples = 1;
  data.features = row.size();
  data.classes = classes;
  data.dense = std::move(row);
  data.targets = {target};
  return data;
}

TEST(linear, has_the_loss_of_its_formula) {
  const auto data = one_sample({2, 3}, 0, 1);
  const auto m = make_model("linear:l1=0.5,l2=0.1", data);
  const std::vector<float> x{1, -1, 4}; // z = 2 - 3 + 4 = 3
  EXPECT_NEAR(m->evaluate(x, {data, all_indices(data)}).loss, 0.5 * 4 + 0.05 * 2 + 0.5 * 2, 1e-7);
  EXPECT_FALSE(m->evaluate(x, {data, all_indices(data)}).accuracy);
  const auto gradient = gradient_at(*m, x, data);
  EXPECT_FLOAT_EQ(gradient[0], 2 * 2 + 0.1f);
  EXPECT_FLOAT_EQ(gradient[1], 2 * 3 - 0.1f);
  EXPECT_FLOAT_EQ(gradient[2], 2); // the bias is not regularised
}

TEST(logistic, stays_finite_far_from_the_boundary) {
  for (const float target : {0.0f, 1.0f}) {
    const auto data = one_sample({1}, 2, target);
    const auto m = make_model("logistic", data);
    for (const float z : {-1e4f, -50.0f, 0.0f, 50.0f, 1e4f}) {
      const double margin = (target == 0 ? -1 : 1) * static_cast<double>(z);
      const std::vector<float> x{z, 0};
      const auto [loss, accuracy] = m->evaluate(x, {data, all_indices(data)});
      EXPECT_NEAR(loss, margin > 0 ? std::exp(-margin) : z == 0 ? std::log(2) : -margin, 1e-12) << z;
      EXPECT_EQ(accuracy, z == 0 ? (target == 0 ? 1 : 0) : (margin > 0 ? 1 : 0)) << z;
      EXPECT_LE(std::fabs(gradient_at(*m, x, data)[0]), 1);
    }
  }
}

TEST(logistic, equals_softmax_of_two_classes) {
  const auto data = small_data(30, 4, 2);
  const auto narrow = make_model("logistic", data), wide = make_model("softmax", data);
  const std::vector<float> w{0.3f, -1, 2, 0.5f, -0.2f};
  std::vector<float> pairs; // class 0 has weights 0, class 1 has w
  for (const float v : w)
    pairs.insert(pairs.end(), {0, v});
  const auto indices = all_indices(data);
  const batch samples{data, indices};
  EXPECT_NEAR(narrow->evaluate(w, samples).loss, wide->evaluate(pairs, samples).loss, 1e-6);
  EXPECT_EQ(narrow->evaluate(w, samples).accuracy, wide->evaluate(pairs, samples).accuracy);
}

TEST(softmax, stays_finite_for_large_outputs) {
  const auto data = one_sample({1}, 3, 2);
  const auto m = make_model("softmax", data);
  const std::vector<float> x{1e4f, -1e4f, 0, 0, 0, 0};
  const auto [loss, accuracy] = m->evaluate(x, {data, all_indices(data)});
  EXPECT_DOUBLE_EQ(loss, 1e4);
  EXPECT_EQ(accuracy, 0);
  EXPECT_THAT(gradient_at(*m, x, data), ElementsAre(1, 0, -1, 1, 0, -1));
}

TEST(softmax, is_right_about_nothing_once_outputs_are_no_numbers) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
  const auto data = one_sample({1}, 3, 0); // of the first class, where a search for the largest begins
  const auto m = make_model("softmax", data);
  for (const float bad : {nan, infinity})
    for (std::size_t i = 0; i < 3; ++i) {
      std::vector<float> x{1, 0, 0, 0, 0, 0};
      x[i] = bad;
      EXPECT_EQ(m->evaluate(x, {data, all_indices(data)}).accuracy, 0) << bad << " of class " << i;
    }
}

TEST(convex_models, begin_at_zero) {
  const auto real = small_data(4, 3, 0), two = small_data(4, 3, 2);
  for (const auto& m : {make_model("quadratic", real), make_model("linear", real), make_model("logistic", two),
                        make_model("softmax", two)}) {
    std::vector<float> x(m->dimension(), 7);
    m->initial_point(x, start);
    EXPECT_THAT(x, testing::Each(0.0f));
  }
}

TEST(mlp, begins_with_the_variance_of_he) {
  const auto data = small_data(1, 200, 0);
  const auto m = make_model("mlp:hidden=50", data);
  std::vector<float> x(m->dimension());
  m->initial_point(x, start);
  constexpr std::size_t count = 200 * 50;
  constexpr double variance = 2.0 / 200;
  double mean = 0, square = 0;
  for (std::size_t i = 0; i < count; ++i) {
    mean += static_cast<double>(x[i]) / count;
    square += static_cast<double>(x[i]) * static_cast<double>(x[i]) / count;
  }
  EXPECT_NEAR(mean, 0, 4.5 * std::sqrt(variance / count));
  EXPECT_NEAR(square, variance, 4.5 * std::sqrt(2.0 / count) * variance);
  EXPECT_THAT(std::vector<float>(x.begin() + count, x.begin() + count + 50),
              testing::Each(0.0f)); // the biases are 0
  EXPECT_NE(x[0], x[count + 50]);
}

TEST(proximal_step, is_soft_thresholding_of_the_weights) {
  const auto data = small_data(4, 5, 0);
  const auto m = make_model("linear:l1=0.5", data);
  buffer_pool pool;
  const vec before{pool, std::vector<float>{3, -3, 0.5f, -1, 0, -7}};
  vec x = before;
  m->proximal_step(x, 2);
  EXPECT_THAT(x.view(), ElementsAre(2, -2, 0, 0, 0, -7)); // the bias stays
  x = before;
  make_model("linear:l2=0.5", data)->proximal_step(x, 2);
  EXPECT_EQ(x.data(), before.data()) << "nothing is copied where nothing changes";
}

TEST(training, of_a_lasso_meets_its_optimality_conditions) {
  const auto data = small_data(50, 6, 0);
  const auto m = make_model("linear:l1=0.05", data);
  buffer_pool pool;
  vec x{pool, m->dimension()};
  for (int t = 0; t < 3000; ++t) {
    x -= 0.3f * vec{pool, gradient_at(*m, x.view(), data)};
    m->proximal_step(x, 0.3f);
  }
  const auto gradient = gradient_at(*m, x.view(), data);
  std::size_t zeros = 0;
  for (std::size_t k = 0; k < 6; ++k) {
    zeros += x[k] == 0;
    if (x[k] == 0)
      EXPECT_LE(std::fabs(gradient[k]), 0.05f + 1e-5f);
    else
      EXPECT_NEAR(gradient[k], std::copysign(0.05f, -x[k]), 1e-5);
  }
  EXPECT_NEAR(gradient[6], 0, 1e-5);
  EXPECT_GT(zeros, 0u);
}

/// Returns four clouds at (+-1, +-1). The class is the sign of the product.
dataset exclusive_or() {
  dataset data;
  data.samples = 200;
  data.features = 2;
  data.classes = 2;
  random_sequence numbers{random_stream{4, 0, purpose::synthetic}, 0};
  for (std::size_t i = 0; i < data.samples; ++i) {
    const double a = i % 2 == 0 ? 1 : -1, b = i % 4 < 2 ? 1 : -1;
    data.dense.push_back(static_cast<float>(a + 0.2 * numbers.normal()));
    data.dense.push_back(static_cast<float>(b + 0.2 * numbers.normal()));
    data.targets.push_back(a * b > 0 ? 1 : 0);
  }
  return data;
}

TEST(training, of_an_mlp_fits_what_softmax_cannot) {
  const auto data = exclusive_or();
  EXPECT_LT(*train("softmax", data, 300, 0.5f).accuracy, 0.8);
  for (const char* activation : {"relu", "tanh"}) {
    const auto text = std::string{"mlp:hidden=16,activation="} + activation;
    const auto result = train(text, data, 300, 0.5f);
    EXPECT_GT(*result.accuracy, 0.99) << activation;
    EXPECT_LT(result.loss, 0.1) << activation;
  }
}

TEST(training, works_with_every_optimiser) {
  const auto data = exclusive_or();
  for (const auto& name : optimisers().names())
    EXPECT_GT(*train("mlp:hidden=16", data, 300, name == "sgd" ? 0.5f : 0.05f, name).accuracy, 0.99) << name;
}

TEST(training, of_a_deep_regression_comes_near_its_targets) {
  auto data = exclusive_or();
  data.classes = 0;
  const auto result = train("mlp:hidden=12+8", data, 1500, 0.1f);
  EXPECT_LT(result.loss, 0.03);
  EXPECT_FALSE(result.accuracy);
}

} // namespace
} // namespace gossamer::compute
