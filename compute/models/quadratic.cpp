#include "gossamer/compute/models/detail/entries.hpp"

#include <algorithm>
#include <cmath>

namespace gossamer::compute::detail {

namespace {

/// Sums over the samples are taken coordinate by coordinate in double precision: `mean_` holds the
/// mean of the rows, and the gradient is a * (x - mean).
class quadratic final : public model {
public:
  quadratic(std::size_t dimension, double mu, double l) : curvature_(dimension), mean_(dimension) {
    const auto last = static_cast<double>(std::max<std::size_t>(dimension, 2) - 1);
    for (std::size_t k = 0; k < dimension; ++k)
      curvature_[k] = mu * std::pow(l / mu, static_cast<double>(k) / last);
  }

  std::size_t dimension() const override { return curvature_.size(); }

  void initial_point(std::span<float> x, const random_stream&) const override { std::ranges::fill(x, 0.0f); }

  double loss_and_gradient(std::span<const float> x, const batch& samples, std::span<float> gradient) override {
    GOSSAMER_ASSERT(gradient.size() == dimension(), "the gradient is of the model's dimension");
    const double loss = mean_loss(x, samples);
    for (std::size_t k = 0; k < gradient.size(); ++k)
      gradient[k] = static_cast<float>(curvature_[k] * (static_cast<double>(x[k]) - mean_[k]));
    return loss;
  }

  evaluation evaluate(std::span<const float> x, const batch& samples) override {
    return {.loss = mean_loss(x, samples), .accuracy = {}};
  }

  std::unique_ptr<model> clone() const override { return std::make_unique<quadratic>(*this); }

private:
  double term(std::size_t k, double x, double c) const { return 0.5 * curvature_[k] * (x - c) * (x - c); }

  /// Leaves the mean of the rows in mean_.
  double mean_loss(std::span<const float> x, const batch& samples) {
    GOSSAMER_ASSERT(x.size() == dimension() && samples.data.features == dimension(),
                    "x and the data are of the model's dimension");
    GOSSAMER_ASSERT(!samples.indices.empty(), "a batch has samples");
    std::ranges::fill(mean_, 0.0);
    const double sum = samples.data.sparse() ? add_sparse_rows(x, samples) : add_dense_rows(x, samples);
    const double share = 1 / static_cast<double>(samples.indices.size());
    for (double& m : mean_)
      m *= share;
    return sum * share;
  }

  double add_dense_rows(std::span<const float> x, const batch& samples) {
    double loss = 0;
    row_.resize(samples.data.features);
    for (const auto i : samples.indices) {
      samples.data.copy_row(i, row_);
      for (std::size_t k = 0; k < row_.size(); ++k) {
        const auto c = static_cast<double>(row_[k]);
        mean_[k] += c;
        loss += term(k, static_cast<double>(x[k]), c);
      }
    }
    return loss;
  }

  /// Takes the loss of each row as that of a row of zeros, and corrects it at the entries that are not 0.
  double add_sparse_rows(std::span<const float> x, const batch& samples) {
    double at_zero = 0;
    for (std::size_t k = 0; k < x.size(); ++k)
      at_zero += term(k, static_cast<double>(x[k]), 0);
    double loss = at_zero * static_cast<double>(samples.indices.size());
    for (const auto i : samples.indices) {
      const auto row = samples.data.row(i);
      for (std::size_t j = 0; j < row.columns.size(); ++j) {
        const auto k = row.columns[j];
        const auto c = static_cast<double>(row.values[j]), at = static_cast<double>(x[k]);
        mean_[k] += c;
        loss += term(k, at, c) - term(k, at, 0);
      }
    }
    return loss;
  }

  std::vector<double> curvature_;
  std::vector<double> mean_;
  std::vector<float> row_; ///< the sample that is looked at, when it is dense
};

std::unique_ptr<model> make_quadratic(const arguments& given, const dataset& train) {
  const double mu = given.real("mu"), l = given.real("l");
  if (mu > l)
    throw error(errc::usage, "mu of model 'quadratic' is greater than l",
                "mu is the least curvature and l the greatest");
  return std::make_unique<quadratic>(train.features, mu, l);
}

} // namespace

model_entry quadratic_model() {
  return {.about = {.name = "quadratic",
                    .summary = "separable quadratic around each sample: smoothness, convexity and the "
                               "minimum are known",
                    .maths = "loss(x; c) = sum_k a_k (x_k - c_k)^2 / 2, a_k = mu (l / mu)^(k / (d - 1)); "
                             "least at the mean of the rows; begins at 0; the targets are not looked at",
                    .cost = "6 operations per stored feature and sample",
                    .parameters = {{.key = "mu",
                                    .kind = parameter::type::real,
                                    .fallback = "0.1",
                                    .meaning = "least curvature (strong convexity)",
                                    .min = 1e-9,
                                    .max = 1e9},
                                   {.key = "l",
                                    .kind = parameter::type::real,
                                    .fallback = "1",
                                    .meaning = "greatest curvature (smoothness)",
                                    .min = 1e-9,
                                    .max = 1e9}}},
          .make = make_quadratic};
}

} // namespace gossamer::compute::detail
