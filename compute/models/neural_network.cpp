#include "gossamer/compute/models/detail/neural_network.hpp"

#include "gossamer/base/vec.hpp"
#include "gossamer/base/work.hpp"
#include "gossamer/compute/models/detail/input_layer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace gossamer::compute::detail {

namespace {

void activate(std::span<float> values, activation function) {
  if (function == activation::relu)
    for (float& v : values)
      v = v < 0 ? 0 : v; // keeps a NaN
  else
    for (float& v : values)
      v = std::tanh(v);
}

/// errors *= the derivative of the activation, computed from its values.
void damp(std::span<float> errors, std::span<const float> values, activation function) {
  if (function == activation::relu)
    for (std::size_t i = 0; i < errors.size(); ++i)
      errors[i] = values[i] == 0 ? 0 : errors[i];
  else
    for (std::size_t i = 0; i < errors.size(); ++i)
      errors[i] *= 1 - values[i] * values[i];
}

/// sum_i f(w_i) in double precision; several sums at once, because each addition waits for the one before.
template <class Function>
double sum_of(std::span<const float> w, Function f) {
  constexpr std::size_t lanes = 8;
  double sums[lanes] = {};
  std::size_t i = 0;
  for (; i + lanes <= w.size(); i += lanes)
    for (std::size_t j = 0; j < lanes; ++j)
      sums[j] += f(static_cast<double>(w[i + j]));
  double total = 0;
  for (; i < w.size(); ++i)
    total += f(static_cast<double>(w[i]));
  for (const double sum : sums)
    total += sum;
  return total;
}

} // namespace

neural_network::neural_network(neural_network_options options) : options_(std::move(options)) {
  for (std::size_t l = 0; l + 1 < options_.widths.size(); ++l) {
    layers_.push_back({{.inputs = options_.widths[l], .outputs = options_.widths[l + 1], .weights = dimension_}});
    dimension_ = layers_.back().bias() + layers_.back().outputs;
    if (dimension_ > INT32_MAX)
      throw error(errc::usage, fmt::format("the model would have more than {} parameters", INT32_MAX),
                  options_.widths.size() > 2 ? "make the hidden layers smaller"
                                             : "it has one for each feature and class: choose data with fewer");
  }
  chunk_ = std::clamp<std::size_t>((std::size_t{1} << 20) / std::max<std::size_t>(options_.widths[0], 1), 16, 256);
}

std::vector<std::string> neural_network::tensor_names() const {
  std::vector<std::string> names;
  for (std::size_t l = 0; l < layers_.size(); ++l)
    for (const auto* part : {"weight", "bias"})
      names.push_back(layers_.size() == 1 ? part : fmt::format("layer{}.{}", l, part));
  return names;
}

void neural_network::initial_point(std::span<float> x, const random_stream& random) const {
  std::ranges::fill(x, 0.0f);
  if (layers_.size() == 1)
    return;
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    random_sequence numbers{random, l};
    const double deviation = std::sqrt(2.0 / static_cast<double>(layers_[l].inputs));
    for (float& w : layers_[l].weights_in(x).values)
      w = static_cast<float>(deviation * numbers.normal());
  }
}

template <class Work>
void neural_network::for_each_chunk(const batch& samples, Work work) {
  GOSSAMER_ASSERT(samples.data.features == options_.widths[0], "the data has as many features as the training data");
  for (std::size_t i = 0; i < samples.indices.size(); i += chunk_)
    work(batch{samples.data, samples.indices.subspan(i, std::min(chunk_, samples.indices.size() - i))});
}

neural_network::tally neural_network::forward(std::span<const float> x, const batch& chunk) {
  const auto rows = chunk.indices.size();
  const_matrix below{{}, 0, 0};
  for (auto& layer : layers_) {
    layer.values.resize(rows * layer.outputs);
    const matrix z{layer.values, rows, layer.outputs};
    for (std::size_t i = 0; i < rows; ++i)
      std::ranges::copy(layer.bias_in(x), z.row(i).begin());
    if (&layer == &layers_.front())
      multiply_samples(z, chunk, layer.weights_in(x), inputs_);
    else
      multiply(z, below, layer.weights_in(x), onto::add);
    if (&layer != &layers_.back())
      activate(z.values, options_.hidden);
    below = z;
  }
  tally result;
  const matrix z{layers_.back().values, rows, layers_.back().outputs};
  for (std::size_t i = 0; i < rows; ++i) {
    const auto [loss, right] = judge(options_.last, z.row(i), chunk.data.targets[chunk.indices[i]]);
    result.loss += loss;
    result.right += right ? 1 : 0;
  }
  return result;
}

void neural_network::backward(std::span<const float> x, const batch& chunk, std::span<float> gradient) {
  const auto rows = chunk.indices.size();
  matrix errors{layers_.back().values, rows, layers_.back().outputs};
  for (std::size_t l = layers_.size() - 1;; --l) {
    const auto& layer = layers_[l];
    for (std::size_t i = 0; i < rows; ++i)
      add(layer.bias_in(gradient), errors.row(i));
    if (l == 0) {
      add_outer_products(layer.weights_in(gradient), chunk, errors, inputs_);
      return;
    }
    auto& below = layers_[l - 1];
    multiply_at(layer.weights_in(gradient), {below.values, rows, below.outputs}, errors, onto::add);
    below.errors.resize(rows * below.outputs);
    const matrix errors_below{below.errors, rows, below.outputs};
    multiply_bt(errors_below, errors, layer.weights_in(x));
    damp(below.errors, below.values, options_.hidden);
    errors = errors_below;
  }
}

double neural_network::loss_and_gradient(std::span<const float> x, const batch& samples, std::span<float> gradient) {
  GOSSAMER_ASSERT(x.size() == dimension_ && gradient.size() == dimension_,
                  "x and gradient are of the model's dimension");
  GOSSAMER_ASSERT(!samples.indices.empty(), "a batch has samples");
  std::ranges::fill(gradient, 0.0f);
  double loss = 0;
  for_each_chunk(samples, [&](const batch& chunk) {
    loss += forward(x, chunk).loss;
    const auto share = 1 / static_cast<float>(samples.indices.size());
    assign_scaled(layers_.back().values, share, layers_.back().values);
    backward(x, chunk, gradient);
  });
  if (options_.l2 != 0)
    for (const auto& layer : layers_)
      add_scaled(layer.weights_in(gradient).values, options_.l2, layer.weights_in(x).values);
  return loss / static_cast<double>(samples.indices.size()) + penalty_at(x, false);
}

evaluation neural_network::evaluate(std::span<const float> x, const batch& samples) {
  GOSSAMER_ASSERT(x.size() == dimension_, "x is of the model's dimension");
  GOSSAMER_ASSERT(!samples.indices.empty(), "a batch has samples");
  tally total;
  for_each_chunk(samples, [&](const batch& chunk) {
    const auto part = forward(x, chunk);
    total.loss += part.loss;
    total.right += part.right;
  });
  const auto count = static_cast<double>(samples.indices.size());
  evaluation result{.loss = total.loss / count + penalty_at(x, true), .accuracy = {}};
  if (classifies(options_.last))
    result.accuracy = static_cast<double>(total.right) / count;
  return result;
}

double neural_network::penalty_at(std::span<const float> x, bool with_l1) const {
  const auto sum_over = [x](auto term) {
    return [x, term](const layer_shape& layer) { return sum_of(layer.weights_in(x).values, term); };
  };
  return penalty(with_l1, sum_over([](double v) { return v * v; }), sum_over([](double v) { return std::fabs(v); }));
}

void neural_network::proximal_step(vec& x, float step) const {
  const float threshold = step * options_.l1;
  if (threshold == 0)
    return;
  count_arithmetic(2 * sizeof(float) * x.size());
  const auto values = x.mutate();
  for (const auto& layer : layers_)
    for (float& w : layer.weights_in(values).values)
      w = soft_threshold(w, threshold);
}

} // namespace gossamer::compute::detail
