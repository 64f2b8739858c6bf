#include "gossamer/compute/torch/detail/torch_model.hpp"

#include "gossamer/base/error.hpp"
#include "gossamer/base/vec.hpp"
#include "gossamer/compute/augmentation.hpp"
#include "gossamer/compute/stratified.hpp"

#include <algorithm>
#include <numeric>

namespace gossamer::compute::libtorch {

namespace {

constexpr std::size_t most_at_once = 250;         ///< samples that are evaluated together
constexpr std::size_t most_for_statistics = 1000; ///< samples

tensor_shape flattened(const tensor& t) {
  if (t.shape.size() < 2)
    return {1, t.size()};
  return {t.shape[0], t.size() / std::max<std::size_t>(t.shape[0], 1)};
}

template <class Work>
auto computed(Work work) {
  try {
    return work();
  } catch (const std::runtime_error& e) {
    throw error(errc::failed, e.what());
  }
}

template <class Work>
void in_parts(const batch& samples, Work work) {
  for (std::size_t i = 0; i < samples.indices.size(); i += most_at_once)
    work(batch{samples.data, samples.indices.subspan(i, std::min(most_at_once, samples.indices.size() - i))});
}

} // namespace

torch_model::torch_model(std::unique_ptr<network> n, const dataset& train, float l2)
    : network_(std::move(n)), train_(train), l2_(l2) {
  for (const auto& t : network_->parameters())
    dimension_ += t.size();
}

std::vector<tensor_shape> torch_model::tensors() const {
  std::vector<tensor_shape> result;
  std::ranges::transform(network_->parameters(), std::back_inserter(result), flattened);
  return result;
}

std::vector<std::string> torch_model::tensor_names() const {
  std::vector<std::string> result;
  for (const auto& t : network_->parameters())
    result.push_back(t.name);
  return result;
}

std::vector<std::vector<std::size_t>> torch_model::tensor_sides() const {
  std::vector<std::vector<std::size_t>> result;
  for (const auto& t : network_->parameters())
    result.push_back(t.shape);
  return result;
}

void torch_model::initial_point(std::span<float> x, const random_stream& random) const {
  std::size_t begin = 0;
  for (std::uint64_t i = 0; const auto& t : network_->parameters()) {
    const auto values = x.subspan(begin, t.size());
    random_sequence numbers{random, i++};
    if (!t.values.empty())
      std::ranges::copy(t.values, values.begin());
    else
      for (float& v : values)
        v = static_cast<float>(t.mean + (t.deviation > 0 ? t.deviation * numbers.normal() : 0));
    begin += t.size();
  }
}

minibatch torch_model::gather(const batch& samples) {
  const auto& data = samples.data;
  data.begin_reading(samples.indices);
  inputs_.resize(samples.indices.size() * data.features);
  targets_.resize(samples.indices.size());
  for (std::size_t i = 0; i < samples.indices.size(); ++i) {
    const auto to = std::span{inputs_}.subspan(i * data.features, data.features);
    if (samples.random == nullptr || !data.augmentation.changes_anything()) {
      data.copy_row(samples.indices[i], to);
    } else {
      picture_.resize(data.features);
      data.copy_row(samples.indices[i], picture_);
      augment(picture_, to, data, *samples.random, samples.step, samples.indices[i]);
    }
    targets_[i] = data.targets[samples.indices[i]];
  }
  return {inputs_, targets_};
}

template <class Work>
void torch_model::for_each_weight(Work work) const {
  std::size_t begin = 0;
  for (const auto& t : network_->parameters()) {
    if (t.shape.size() > 1)
      work(begin, t.size());
    begin += t.size();
  }
}

double torch_model::loss_and_gradient(std::span<const float> x, const batch& samples, std::span<float> gradient) {
  GOSSAMER_ASSERT(x.size() == dimension_ && gradient.size() == dimension_,
                  "x and gradient are of the model's dimension");
  GOSSAMER_ASSERT(!samples.indices.empty(), "a batch has samples");
  settled_.clear(); // now the network has the statistics of these samples
  double loss = computed([&] { return network_->loss_and_gradient(x, gather(samples), gradient); });
  if (l2_ != 0)
    for_each_weight([&](std::size_t begin, std::size_t size) {
      add_scaled(gradient.subspan(begin, size), l2_, x.subspan(begin, size));
      loss += l2_ / 2 * sum_of_squares(x.subspan(begin, size));
    });
  return loss;
}

void torch_model::settle_statistics(std::span<const float> x) {
  if (!network_->keeps_statistics() || std::ranges::equal(settled_, x))
    return;
  const auto indices = stratified_sample(train_.samples, most_for_statistics);
  settled_.clear();
  network_->forget_statistics();
  // Parts of equal sizes, because each has the same weight. A part holds every n-th sample: a set may be
  // sorted by class.
  const auto parts = (indices.size() + most_at_once - 1) / most_at_once;
  for (std::size_t p = 0; p < parts; ++p) {
    std::vector<std::uint32_t> part;
    for (std::size_t i = p; i < indices.size(); i += parts)
      part.push_back(indices[i]);
    network_->show(x, gather({train_, part}));
  }
  settled_.assign(x.begin(), x.end());
}

std::vector<std::string> torch_model::buffer_names() const {
  std::vector<std::string> result;
  for (const auto& b : network_->buffers())
    result.push_back(b.name);
  for (const auto& t : network_->parameters())
    std::ranges::copy(t.other_names, std::back_inserter(result));
  return result;
}

std::vector<named_tensor> torch_model::buffers_at(std::span<const float> x) const {
  return computed([&] {
    torch_model other{network_->clone(), train_, l2_};
    other.settle_statistics(x);
    std::vector<named_tensor> result;
    for (auto& b : other.network_->buffers())
      result.push_back({b.name, b.shape, {b.values.begin(), b.values.end()}});
    auto rest = x;
    for (const auto& t : network_->parameters()) {
      const auto values = rest.first(t.size());
      for (const auto& name : t.other_names)
        result.push_back({name, t.shape, {values.begin(), values.end()}});
      rest = rest.subspan(t.size());
    }
    return result;
  });
}

evaluation torch_model::evaluate(std::span<const float> x, const batch& samples) {
  GOSSAMER_ASSERT(x.size() == dimension_, "x is of the model's dimension");
  GOSSAMER_ASSERT(!samples.indices.empty(), "a batch has samples");
  score total;
  computed([&] {
    settle_statistics(x);
    in_parts(samples, [&](const batch& part) {
      const auto of_part = network_->evaluate(x, gather(part));
      total.loss += of_part.loss;
      total.right += of_part.right;
    });
  });
  const auto count = static_cast<double>(samples.indices.size());
  evaluation result{.loss = total.loss / count, .accuracy = {}};
  if (train_.classes > 0)
    result.accuracy = total.right / count;
  if (l2_ != 0)
    for_each_weight(
        [&](std::size_t begin, std::size_t size) { result.loss += l2_ / 2 * sum_of_squares(x.subspan(begin, size)); });
  return result;
}

std::unique_ptr<model> torch_model::clone() const {
  return std::make_unique<torch_model>(network_->clone(), train_, l2_);
}

} // namespace gossamer::compute::libtorch
