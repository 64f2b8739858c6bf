// The promises of every model, checked for every entry of the registry on dense and on sparse data.
#include "gossamer/compute/model_file.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <ostream>

#include "support/count_allocations.hpp"
#include "support/scratch_folder.hpp"
#include "support/small_data.hpp"
#include "support/torch_cases.hpp"

namespace gossamer::compute {
namespace {

const auto names_before_main = models().names();

TEST(names_of_models, can_be_read_before_main) {
  EXPECT_THAT(names_before_main, testing::Each(testing::Not(testing::IsEmpty())));
}

struct model_case {
  std::string text;
  std::size_t classes; ///< number of classes in the data; 0: real targets
  bool sparse;
};

std::ostream& operator<<(std::ostream& out, const model_case& c) {
  return out << c.text << " on " << c.classes << " classes, " << (c.sparse ? "sparse" : "dense");
}

std::vector<model_case> all_cases() {
  const std::vector<std::pair<std::string, std::size_t>> specs{
      {"quadratic", 0},
      {"quadratic:mu=0.5,l=20", 2},
      {"linear", 0},
      {"linear:l1=0.1,l2=0.3", 0},
      {"logistic", 2},
      {"logistic:l1=0.05,l2=0.2", 2},
      {"softmax", 2},
      {"softmax:l2=0.1", 3},
      {"softmax:l1=0.1", 5},
      {"mlp:hidden=5,activation=tanh", 3},
      {"mlp:hidden=4+3,activation=tanh,l2=0.1", 0},
      {"mlp:hidden=1+1+1,activation=tanh", 2},
      {"mlp:hidden=7+5", 4},
      {"mlp:hidden=6,l2=0.05", 0},
  };
  std::vector<model_case> cases;
  for (const auto& [text, classes] : specs)
    for (bool sparse : {false, true})
      cases.push_back({text, classes, sparse});
  return cases;
}

class every_model : public testing::TestWithParam<model_case> {
protected:
  every_model()
      : data_(gossamer::support::small_data(19, 6, GetParam().classes)), model_(make_model(GetParam().text, data_)),
        indices_(gossamer::support::all_indices(data_)) {
    if (GetParam().sparse)
      data_ = gossamer::support::as_sparse(data_);
    random_sequence numbers{random_stream{3, 0, purpose::initial}, 7};
    for (std::size_t i = 0; i < model_->dimension(); ++i)
      point_.push_back(static_cast<float>(0.7 * numbers.normal()));
  }

  struct result {
    double loss;
    std::vector<float> gradient;
  };

  /// Returns loss and gradient. The gradient is written over NaN, so that missing elements show.
  result run(model& m, std::span<const std::uint32_t> indices) {
    result r{0, std::vector<float>(m.dimension(), std::nanf(""))};
    r.loss = m.loss_and_gradient(point_, {data_, indices}, r.gradient);
    return r;
  }

  static void expect_close(const std::vector<float>& a, const std::vector<float>& b, double tolerance) {
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t k = 0; k < a.size(); ++k)
      EXPECT_NEAR(a[k], b[k], tolerance * (1 + std::fabs(b[k]))) << "coordinate " << k;
  }

  dataset data_;
  std::unique_ptr<model> model_;
  std::vector<std::uint32_t> indices_;
  std::vector<float> point_;
};

TEST_P(every_model, is_read_back_from_a_file) {
  const test::scratch_folder folder;
  const auto file = folder.path() + "/model.npz";
  write_model(file, *model_, point_);
  std::vector<float> read(point_.size());
  read_model(file, *model_, read);
  EXPECT_EQ(read, point_);
}

TEST_P(every_model, gradient_equals_central_differences) {
  const auto [loss, gradient] = run(*model_, indices_);
  for (std::size_t k = 0; k < point_.size(); ++k) {
    const float middle = point_[k],
                h = 0x1p-7f; // error of a difference: h^2 f''' / 6 + 1e-7 |z| / h
    const auto loss_at = [&](float value) {
      point_[k] = value;
      return run(*model_, indices_).loss;
    };
    const double above = loss_at(middle + h), below = loss_at(middle - h);
    const double width = static_cast<double>(middle + h) - static_cast<double>(middle - h);
    point_[k] = middle;
    EXPECT_NEAR(gradient[k], (above - below) / width, 3e-4 * (1 + std::fabs(gradient[k]))) << "coordinate " << k;
  }
}

TEST_P(every_model, gradient_of_a_batch_is_the_mean_over_its_samples) {
  const auto whole = run(*model_, indices_);
  std::vector<double> sum(model_->dimension());
  double loss = 0;
  for (const auto i : indices_) {
    const auto one = run(*model_, {&i, 1});
    loss += one.loss;
    for (std::size_t k = 0; k < sum.size(); ++k)
      sum[k] += one.gradient[k];
  }
  const auto count = static_cast<double>(indices_.size());
  EXPECT_NEAR(whole.loss, loss / count, 1e-5 * (1 + std::fabs(whole.loss)));
  std::vector<float> mean;
  for (const double s : sum)
    mean.push_back(static_cast<float>(s / count));
  expect_close(whole.gradient, mean, 1e-5);
}

TEST_P(every_model, takes_samples_in_any_order_and_more_than_once) {
  const std::vector<std::uint32_t> chosen{7, 7, 2};
  const auto all = run(*model_, chosen);
  const auto seven = run(*model_, std::span{chosen}.first(1)), two = run(*model_, std::span{chosen}.last(1));
  EXPECT_NEAR(all.loss, (2 * seven.loss + two.loss) / 3, 1e-5 * (1 + std::fabs(all.loss)));
}

// Both layouts of the rows give the same results, also across the bound of a chunk.
TEST_P(every_model, does_not_care_how_rows_are_stored) {
  data_ = gossamer::support::small_data(600, 6, GetParam().classes);
  indices_ = gossamer::support::all_indices(data_);
  const auto dense = run(*model_, indices_);
  const auto dense_score = model_->evaluate(point_, {data_, indices_});
  data_ = gossamer::support::as_sparse(data_);
  const auto sparse = run(*model_, indices_);
  const auto sparse_score = model_->evaluate(point_, {data_, indices_});
  EXPECT_NEAR(sparse.loss, dense.loss, 1e-5 * (1 + std::fabs(dense.loss)));
  EXPECT_NEAR(sparse_score.loss, dense_score.loss, 1e-5 * (1 + std::fabs(dense_score.loss)));
  EXPECT_EQ(sparse_score.accuracy, dense_score.accuracy);
  expect_close(sparse.gradient, dense.gradient, 1e-5);
}

TEST_P(every_model, evaluates_to_the_mean_of_its_losses) {
  data_ = gossamer::support::small_data(600, 6, GetParam().classes);
  if (GetParam().sparse)
    data_ = gossamer::support::as_sparse(data_);
  indices_ = gossamer::support::all_indices(data_);
  const auto whole = model_->evaluate(point_, {data_, indices_});
  double loss = 0, accuracy = 0;
  for (const auto i : indices_) {
    const auto one = model_->evaluate(point_, {data_, {&i, 1}});
    EXPECT_EQ(one.accuracy.has_value(), whole.accuracy.has_value());
    loss += one.loss / 600;
    accuracy += one.accuracy.value_or(0) / 600;
  }
  EXPECT_NEAR(whole.loss, loss, 1e-5 * (1 + std::fabs(loss)));
  EXPECT_NEAR(whole.accuracy.value_or(0), accuracy, 1e-9);
}

TEST_P(every_model, repeats_itself_bit_for_bit) {
  const auto first = run(*model_, indices_), second = run(*model_, indices_);
  EXPECT_EQ(first.loss, second.loss);
  EXPECT_EQ(first.gradient, second.gradient);
}

TEST_P(every_model, allocates_nothing_once_the_largest_batch_was_seen) {
  auto r = run(*model_, indices_);
  const auto before = gossamer::support::allocations();
  for (const std::size_t size : {19u, 1u, 7u, 19u}) {
    const auto part = std::span{indices_}.first(size);
    r.loss += model_->loss_and_gradient(point_, {data_, part}, r.gradient);
    r.loss += model_->evaluate(point_, {data_, part}).loss;
  }
  EXPECT_EQ(gossamer::support::allocations(), before);
}

TEST_P(every_model, clones_compute_the_same_and_share_nothing) {
  const auto expected = run(*model_, indices_);
  const auto clone = model_->clone();
  run(*model_, std::span{indices_}.first(3)); // the original computes something else meanwhile
  const auto cloned = run(*clone, indices_);
  EXPECT_EQ(cloned.loss, expected.loss);
  EXPECT_EQ(cloned.gradient, expected.gradient);
  model_.reset();
  EXPECT_EQ(run(*clone, indices_).gradient, expected.gradient);
}

TEST_P(every_model, begins_where_its_stream_says) {
  const random_stream stream{9, 0, purpose::initial};
  std::vector<float> first(model_->dimension(), std::nanf("")), second(model_->dimension(), 5);
  model_->initial_point(first, stream);
  model_->clone()->initial_point(second, stream);
  EXPECT_EQ(first, second);
  EXPECT_TRUE(std::ranges::all_of(first, [](float v) { return std::isfinite(v); }));
}

TEST_P(every_model, descends_along_its_gradient) {
  const auto [loss, gradient] = run(*model_, indices_);
  double square = 0;
  for (std::size_t k = 0; k < point_.size(); ++k)
    square += static_cast<double>(gradient[k]) * static_cast<double>(gradient[k]);
  const double step = 1e-3;
  for (std::size_t k = 0; k < point_.size(); ++k)
    point_[k] -= static_cast<float>(step) * gradient[k];
  EXPECT_NEAR(run(*model_, indices_).loss, loss - step * square, 0.05 * step * square + 1e-6);
}

TEST_P(every_model, lets_what_is_not_finite_pass_through) {
  for (float& v : point_)
    v = std::nanf("");
  const auto [loss, gradient] = run(*model_, indices_);
  EXPECT_TRUE(std::isnan(loss));
  EXPECT_TRUE(std::ranges::any_of(gradient, [](float v) { return std::isnan(v); }));
}

// prox minimises ||z - w||^2 / 2 + step * penalty(z): no step along a coordinate leads further down. The penalty comes
// out of evaluate, so the test knows neither which coordinates are biases nor the size of l1.
TEST_P(every_model, takes_the_proximal_step_of_its_l1_term) {
  const float step = 2;
  buffer_pool pool;
  vec moved{pool, point_};
  model_->proximal_step(moved, step);
  const std::vector<float> after{moved.view().begin(), moved.view().end()};
  const auto l1_term = [&](const std::vector<float>& x) {
    std::vector<float> gradient(x.size());
    const batch samples{data_, indices_};
    return model_->evaluate(x, samples).loss - model_->loss_and_gradient(x, samples, gradient);
  };
  const double before = l1_term(after);
  for (std::size_t k = 0; k < after.size(); ++k)
    for (const float change : {-0.05f, 0.05f}) {
      auto z = after;
      z[k] += change;
      const auto distance = [&](float v) { return 0.5 * std::pow(static_cast<double>(v - point_[k]), 2); };
      const double rise = distance(z[k]) - distance(after[k]) + static_cast<double>(step) * (l1_term(z) - before);
      EXPECT_GT(rise, 0) << "coordinate " << k;
    }
}

INSTANTIATE_TEST_SUITE_P(models, every_model, testing::ValuesIn(all_cases()));

TEST(models, are_all_under_these_laws) {
  const auto cases = all_cases();
  for (const auto& name : models().names())
    EXPECT_TRUE(support::is_torch_model(name) // whose laws are in torch_model_laws_test.cpp
                || std::ranges::any_of(cases, [&](const auto& c) { return spec::parse(c.text).name == name; }))
        << name;
}

} // namespace
} // namespace gossamer::compute
