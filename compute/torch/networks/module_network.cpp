#include "gossamer/compute/torch/networks/detail/module.hpp"
#include "gossamer/compute/torch/networks/detail/running_statistics.hpp"
#include "gossamer/compute/torch/networks/detail/words.hpp"

#include <ATen/Context.h>
#include <algorithm>
#include <cmath>
#include <iomanip>
#include <new>
#include <sstream>
#include <torch/version.h>

namespace gossamer::compute::libtorch {

namespace {

using ::torch::Tensor;

constexpr float most_exact = 1 << 24; ///< whole numbers up to it are 32-bit floats

/// Translates exceptions of LibTorch into those of `network`.
template <class Work>
auto translated(const std::string& what, Work work) {
  try {
    return work();
  } catch (const c10::Error& e) {
    const auto text = text_of(e);
    if (text.find("not enough memory") != std::string::npos || text.find("alloc") != std::string::npos)
      throw std::bad_alloc();
    throw refusal(what + ": " + gist(text));
  } catch (const refusal&) {
    throw;
  } catch (const std::runtime_error& e) { // thrown by TorchScript
    throw refusal(what + ": " + gist(e.what()));
  }
}

std::string shape_text(c10::IntArrayRef shape) {
  std::ostringstream out;
  out << shape;
  return out.str();
}

std::vector<std::size_t> sides(const Tensor& t) { return {t.sizes().begin(), t.sizes().end()}; }

class module_network final : public network {
public:
  module_network(std::unique_ptr<module> m, network_request wanted, std::string what, std::vector<tensor> parameters)
      : wanted_(std::move(wanted)), what_(std::move(what)), takes_whole_numbers_(wanted_.is_text),
        parameters_(std::move(parameters)), module_(std::move(m)), flat_(module_->parameters()), statistics_(*module_) {
  }

  const std::vector<tensor>& parameters() const override { return parameters_; }

  double loss_and_gradient(std::span<const float> x, const minibatch& samples, std::span<float> gradient) override {
    return translated(what_, [&] {
      flat_.set(x);
      flat_.clear_gradient();
      module_->train(true);
      const auto loss = loss_of(outputs_for(samples), samples, at::Reduction::Mean);
      loss.backward();
      flat_.copy_gradient(gradient);
      return loss.item<double>();
    });
  }

  bool keeps_statistics() const override { return !statistics_.empty(); }
  void forget_statistics() override { statistics_.forget(); }
  void show(std::span<const float> x, const minibatch& samples) override {
    translated(what_, [&] {
      flat_.set(x);
      statistics_.show([&] { outputs_for(samples); });
      statistics_.settle();
    });
  }

  std::vector<tensor> buffers() const override {
    std::vector<tensor> result;
    for (const auto& [name, buffer] : module_->buffers()) {
      const auto values = buffer.to(::torch::kFloat).contiguous();
      const auto* first = values.data_ptr<float>();
      result.push_back({.name = name, .shape = sides(values), .values = {first, first + values.numel()}});
    }
    return result;
  }

  score evaluate(std::span<const float> x, const minibatch& samples) override {
    return translated(what_, [&]() -> score {
      const ::torch::NoGradGuard constant;
      flat_.set(x);
      module_->train(false);
      require_whole_numbers(samples);
      const auto outputs = outputs_for(samples);
      const auto count = static_cast<double>(samples.targets.size());
      const double loss = loss_of(outputs, samples, at::Reduction::Mean).item<double>() * count;
      if (wanted_.classes == 0)
        return {loss, 0};
      const auto right = outputs.argmax(-1).eq(labels_of(samples)).to(::torch::kDouble).mean();
      return {loss, right.item<double>() * count};
    });
  }

  std::unique_ptr<network> clone() const override {
    auto result = std::make_unique<module_network>(module_->clone(), wanted_, what_, parameters_);
    result->takes_whole_numbers_ = takes_whole_numbers_;
    return result;
  }

  /// Computes two samples, so that a misfit is found before training, and finds out whether it takes whole numbers.
  void try_out() {
    const ::torch::NoGradGuard constant;
    module_->train(false);
    auto outputs = translated(what_ + " cannot take samples of shape " + sample_shape(), [&] {
      try {
        return outputs_for_two(0, 0);
      } catch (const std::exception&) {
        if (std::exchange(takes_whole_numbers_, true) || !computes_two(0, 0))
          throw; // the first error, about the numbers that the data has
        return Tensor{};
      }
    });
    if (takes_whole_numbers_ && wanted_.range)
      outputs = try_out_whole_numbers();
    wanted_.range = nullptr; // what it reads need not outlive this
    const auto n = static_cast<std::int64_t>(wanted_.classes);
    std::vector<std::int64_t> fitting{2};
    if (wanted_.is_text)
      fitting.push_back(static_cast<std::int64_t>(wanted_.input_shape[0]));
    fitting.push_back(n == 0 ? 1 : n);
    const bool is_flat = n == 0 && outputs.dim() == 1 && outputs.size(0) == 2;
    if (outputs.sizes() != fitting && !is_flat)
      throw refusal(what_ + ": its outputs for 2 samples are of shape " + shape_text(outputs.sizes())
                    + ", and the targets of the data need " + shape_text(fitting));
  }

private:
  Tensor try_out_whole_numbers() {
    const auto [least, most, whole] = wanted_.range();
    std::ostringstream values;
    values << std::setprecision(9) << least << " to " << most;
    if (!whole)
      throw refusal(what_ + " takes whole numbers, such as ids of tokens, and not all features of the data, from "
                    + values.str()
                    + ", are whole; save whole ones (csv: scale=none), or let the module convert what it takes");
    if (least < -most_exact || most > most_exact)
      throw refusal(what_ + " takes whole numbers, and the features of the data, from " + values.str()
                    + ", are too large to be told apart as 32-bit floats; number them anew, from 0");
    try {
      return outputs_for_two(least, most);
    } catch (const std::exception& e) {
      throw refusal(what_ + " cannot take the whole numbers of the data, from " + values.str() + ": " + gist(text_of(e))
                    + "; an embedding needs one row more than the largest, and none is negative");
    }
  }

  /// Of the training data this is known, of the test data it is not.
  void require_whole_numbers(const minibatch& samples) const {
    if (takes_whole_numbers_ && std::ranges::any_of(samples.inputs, [](float v) { return v != std::floor(v); }))
      throw refusal(what_ + " takes whole numbers, and a sample of the test data holds others");
  }

  bool computes_two(float first, float second) {
    try {
      outputs_for_two(first, second);
      return true;
    } catch (const std::exception&) {
      return false;
    }
  }

  /// @return the outputs for two samples of one number each, in all their features
  Tensor outputs_for_two(float first, float second) {
    const std::vector<float> targets(2);
    std::size_t features = 1;
    for (const auto side : wanted_.input_shape)
      features *= side;
    std::vector<float> inputs(features, first);
    inputs.resize(2 * features, second);
    return outputs_for({inputs, targets});
  }

  std::string sample_shape() const {
    return shape_text(std::vector<std::int64_t>(wanted_.input_shape.begin(), wanted_.input_shape.end()));
  }

  static Tensor view_of(std::span<const float> values, std::vector<std::int64_t> shape) {
    return ::torch::from_blob(const_cast<float*>(values.data()), shape); // only read
  }

  Tensor outputs_for(const minibatch& samples) {
    std::vector<std::int64_t> shape{static_cast<std::int64_t>(samples.targets.size())};
    shape.insert(shape.end(), wanted_.input_shape.begin(), wanted_.input_shape.end());
    const auto inputs = view_of(samples.inputs, shape);
    return module_->forward(takes_whole_numbers_ ? inputs.to(::torch::kLong) : inputs);
  }

  /// Returns a class number for each row of the outputs; for text, the byte that follows each byte.
  Tensor labels_of(const minibatch& samples) const {
    const auto n = static_cast<std::int64_t>(samples.targets.size());
    const auto targets = view_of(samples.targets, {n});
    if (!wanted_.is_text)
      return targets.to(::torch::kLong);
    const auto inputs = view_of(samples.inputs, {n, static_cast<std::int64_t>(wanted_.input_shape[0])});
    return ::torch::cat({inputs.slice(1, 1), targets.unsqueeze(1)}, 1).to(::torch::kLong);
  }

  Tensor loss_of(const Tensor& outputs, const minibatch& samples, int reduction) const {
    if (wanted_.classes == 0) {
      const auto targets = view_of(samples.targets, {static_cast<std::int64_t>(samples.targets.size())});
      return at::mse_loss(outputs.flatten(), targets, reduction) / 2;
    }
    return at::cross_entropy_loss(outputs.flatten(0, -2), labels_of(samples).flatten(), {}, reduction);
  }

  network_request wanted_;
  std::string what_;
  bool takes_whole_numbers_; ///< int64, such as ids of tokens
  std::vector<tensor> parameters_;
  std::unique_ptr<module> module_;
  flat_parameters flat_;
  running_statistics statistics_;
};

} // namespace

void start_before_rectifiers(tensor& t) {
  if (t.shape.size() > 1)
    t.deviation = std::sqrt(2 * static_cast<double>(t.shape[0]) / static_cast<double>(t.size()));
  else if (t.name.ends_with("weight"))
    t.mean = 1;
}

std::unique_ptr<network> make_network_of(std::unique_ptr<module> m, const network_request& wanted, std::string what,
                                         const describe_start& start) {
  std::vector<tensor> parameters;
  for (const auto& [name, p] : m->parameters()) {
    parameters.push_back({.name = name, .shape = sides(p)});
    start(parameters.back());
  }
  auto result = std::make_unique<module_network>(std::move(m), wanted, std::move(what), std::move(parameters));
  result->try_out();
  return result;
}

} // namespace gossamer::compute::libtorch

namespace {

/// Settings of all threads of the process; the modules of one process agree on them.
void configure(int threads) {
  at::globalContext().setDeterministicAlgorithms(true, false);
#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 2)
  at::globalContext().setDeterministicFillUninitializedMemory(false); // with NaN, to find modules that read it
#endif
  at::set_num_threads(threads);
}

} // namespace

/// The function that `make_network_name` names.
extern "C" __attribute__((visibility("default"))) void
gossamer_torch_make_network_3(const gossamer::compute::libtorch::network_request& wanted,
                              std::unique_ptr<gossamer::compute::libtorch::network>& made) {
  using namespace gossamer::compute::libtorch;
  configure(wanted.threads);
  const std::map<std::string, std::unique_ptr<network> (*)(const network_request&)> kinds{
      {"cnn", make_cnn},         {"resnet", make_resnet},           {"vgg", make_vgg},
      {"alexnet", make_alexnet}, {"transformer", make_transformer}, {"torchscript", make_torchscript}};
  made = translated("model '" + wanted.kind + "'", [&] { return kinds.at(wanted.kind)(wanted); });
}
