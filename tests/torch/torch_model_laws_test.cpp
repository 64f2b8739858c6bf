// The promises of the models of LibTorch: those of every model (model_laws_test.cpp), except that they allocate, and
// that models which normalise by a minibatch have no gradient of a single sample.
#include "gossamer/compute/model_file.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/scratch_folder.hpp"
#include "support/small_data.hpp"
#include "support/torch_cases.hpp"

namespace gossamer::compute {
namespace {

class every_torch_model : public testing::TestWithParam<std::string> {
protected:
  void SetUp() override {
    GOSSAMER_NEEDS_TORCH();
    data_ = support::data_for(GetParam(), 12);
    indices_ = support::all_indices(data_);
    model_ = make_model(GetParam(), data_);
    point_.resize(model_->dimension());
    model_->initial_point(point_, random_stream{3, 0, purpose::initial});
  }

  struct result {
    double loss;
    std::vector<float> gradient;
    bool operator==(const result&) const = default;
  };
  result run(model& m, const std::vector<float>& x) {
    result r{0, std::vector<float>(m.dimension(), std::nanf(""))};
    r.loss = m.loss_and_gradient(x, {data_, indices_}, r.gradient);
    return r;
  }

  dataset data_;
  std::vector<std::uint32_t> indices_;
  std::unique_ptr<model> model_;
  std::vector<float> point_;
};

TEST_P(every_torch_model, has_tensors_that_make_up_its_parameters) {
  std::size_t size = 0;
  for (const auto& t : model_->tensors())
    size += t.size();
  EXPECT_EQ(size, model_->dimension());
  EXPECT_EQ(model_->tensor_names().size(), model_->tensors().size());
  EXPECT_EQ(model_->tensor_sides().size(), model_->tensors().size());
}

// The directions are random, because single coordinates of deep networks change the loss by less than its precision.
TEST_P(every_torch_model, gradient_equals_central_differences) {
  const auto gradient = run(*model_, point_).gradient;
  random_sequence numbers{random_stream{5, 0, purpose::initial}, 0};
  for (int k = 0; k < 2; ++k) {
    std::vector<double> direction(point_.size());
    double slope = 0, norm = 0;
    for (std::size_t i = 0; i < direction.size(); ++i) { // leans towards the gradient: the slope is not 0
      direction[i] = numbers.normal() * 1e-2 + static_cast<double>(gradient[i]);
      norm += direction[i] * direction[i];
    }
    norm = std::sqrt(norm);
    for (std::size_t i = 0; i < direction.size(); ++i)
      slope += static_cast<double>(gradient[i]) * direction[i] / norm;
    const auto loss_at = [&](double h) {
      auto x = point_;
      for (std::size_t i = 0; i < x.size(); ++i)
        x[i] += static_cast<float>(h * direction[i] / norm);
      return run(*model_, x).loss;
    };
    const double h = 1e-4;
    EXPECT_NEAR((loss_at(h) - loss_at(-h)) / (2 * h), slope, 0.02 * std::fabs(slope) + 5e-3);
  }
}

// Random changes of the pictures, too.
TEST_P(every_torch_model, sees_the_same_in_bytes_as_in_floats) {
  auto bytes = support::with_bytes(data_, data_.is_text ? std::vector<byte_scale>{{}}
                                                        : std::vector<byte_scale>{{.divisor = 255, .mean = 0.4f}});
  if (!data_.is_text)
    bytes.augmentation = {.padding = 2, .mirror = true};
  const auto floats = support::as_floats(bytes);
  const random_stream random{8, 0, purpose::augment};
  const auto of = [&](const dataset& data) {
    result r{0, std::vector<float>(model_->dimension())};
    r.loss =
        make_model(GetParam(), data)
            ->loss_and_gradient(point_, {.data = data, .indices = indices_, .random = &random, .step = 3}, r.gradient);
    return r;
  };
  EXPECT_EQ(of(bytes), of(floats));
}

TEST_P(every_torch_model, repeats_itself_bit_for_bit) { EXPECT_EQ(run(*model_, point_), run(*model_, point_)); }

TEST_P(every_torch_model, clones_compute_the_same_and_share_nothing) {
  const auto expected = run(*model_, point_);
  const auto clone = model_->clone();
  run(*model_, std::vector<float>(point_.size(), 0.1f)); // the original computes something else meanwhile
  EXPECT_EQ(run(*clone, point_), expected);
  model_.reset();
  EXPECT_EQ(run(*clone, point_), expected);
}

TEST_P(every_torch_model, evaluates_to_the_mean_of_its_losses) {
  const auto whole = model_->evaluate(point_, {data_, indices_});
  double loss = 0, accuracy = 0;
  for (const auto i : indices_) {
    const auto one = model_->evaluate(point_, {data_, {&i, 1}});
    loss += one.loss / 12;
    accuracy += one.accuracy.value() / 12;
  }
  EXPECT_NEAR(whole.loss, loss, 1e-4 * (1 + std::fabs(loss)));
  EXPECT_NEAR(whole.accuracy.value(), accuracy, 1e-6);
}

// Earlier evaluations and training steps must not matter.
TEST_P(every_torch_model, is_as_good_as_its_point_alone_says) {
  const auto expected = model_->evaluate(point_, {data_, indices_});
  const std::vector<float> other(point_.size(), 0.05f);
  run(*model_, other);
  EXPECT_EQ(model_->evaluate(point_, {data_, indices_}).loss, expected.loss);
  model_->evaluate(other, {data_, indices_});
  run(*model_, other);
  const auto again = model_->evaluate(point_, {data_, indices_}),
             cloned = model_->clone()->evaluate(point_, {data_, indices_});
  EXPECT_EQ(again.loss, expected.loss);
  EXPECT_EQ(cloned.loss, expected.loss);
}

TEST_P(every_torch_model, is_read_back_from_a_file) {
  const test::scratch_folder folder;
  const auto file = folder.path() + "/model.npz";
  write_model(file, *model_, point_);
  std::vector<float> read(point_.size());
  read_model(file, *model_, read);
  EXPECT_EQ(read, point_);
  EXPECT_EQ(read_npz(file).size(), model_->tensors().size() + model_->buffer_names().size());
}

TEST_P(every_torch_model, begins_where_its_stream_says) {
  std::vector<float> again(point_.size()), other(point_.size());
  model_->clone()->initial_point(again, random_stream{3, 0, purpose::initial});
  model_->initial_point(other, random_stream{4, 0, purpose::initial});
  EXPECT_EQ(again, point_);
  EXPECT_NE(other, point_);
}

TEST_P(every_torch_model, regularises_weights) {
  const auto separator = GetParam().find(':') == std::string::npos ? ":" : ",";
  const auto regularised = make_model(GetParam() + separator + "l2=0.5", data_);
  const auto plain = run(*model_, point_), with = run(*regularised, point_);
  double penalty = 0;
  std::size_t begin = 0;
  for (const auto& sides : model_->tensor_sides()) {
    std::size_t size = 1;
    for (const auto side : sides)
      size *= side;
    for (std::size_t k = begin; k < begin + size; ++k) {
      const float share = sides.size() > 1 ? 0.5f * point_[k] : 0;
      EXPECT_NEAR(with.gradient[k], plain.gradient[k] + share, 1e-5 * (1 + std::fabs(with.gradient[k])));
      penalty += static_cast<double>(share) * static_cast<double>(point_[k]) / 2;
    }
    begin += size;
  }
  EXPECT_NEAR(with.loss, plain.loss + penalty, 1e-4 * with.loss);
}

INSTANTIATE_TEST_SUITE_P(torch, every_torch_model, testing::ValuesIn(support::small_torch_models));

} // namespace
} // namespace gossamer::compute
