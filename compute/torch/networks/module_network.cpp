#include "gossamer/compute/torch/networks/detail/module.hpp"
#include "gossamer/compute/torch/networks/detail/running_statistics.hpp"

#include <ATen/Context.h>
#include <cmath>
#include <new>
#include <sstream>

namespace gossamer::compute::libtorch {

namespace {

using ::torch::Tensor;

/// Returns the part of a message that users understand: the line with the problem, without the places in the sources of
/// LibTorch or of the module.
std::string gist(std::string text) {
  constexpr std::string_view before = "RuntimeError: "; // TorchScript's
  if (const auto at = text.rfind(before); at != std::string::npos)
    text.erase(0, at + before.size());
  return text.substr(0, text.find('\n'));
}

/// Translates exceptions of LibTorch into those of `network`.
template <class Work>
auto translated(const std::string& what, Work work) {
  try {
    return work();
  } catch (const c10::Error& e) {
    const std::string text = e.what_without_backtrace();
    if (text.find("not enough memory") != std::string::npos || text.find("alloc") != std::string::npos)
      throw std::bad_alloc();
    throw refusal(what + ": " + gist(text));
  } catch (const refusal&) {
    throw;
  } catch (const std::runtime_error& e) { // thrown by TorchScript
    throw refusal(what + ": " + gist(e.what()));
  }
}

std::string text_of(c10::IntArrayRef shape) {
  std::ostringstream out;
  out << shape;
  return out.str();
}

std::vector<std::size_t> sides(const Tensor& t) { return {t.sizes().begin(), t.sizes().end()}; }

class module_network final : public network {
public:
  module_network(std::unique_ptr<module> m, network_request wanted, std::string what, std::vector<tensor> parameters)
      : wanted_(std::move(wanted)), what_(std::move(what)), parameters_(std::move(parameters)), module_(std::move(m)),
        flat_(module_->parameters()), statistics_(*module_) {}

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
    return std::make_unique<module_network>(module_->clone(), wanted_, what_, parameters_);
  }

  /// Computes two samples, so that a misfit is found before training.
  void try_out() {
    const std::vector<float> targets(2);
    std::size_t features = targets.size();
    for (const auto side : wanted_.input_shape)
      features *= side;
    const std::vector<float> inputs(features);
    const auto outputs = translated(what_ + " cannot take samples of shape " + sample_shape(), [&] {
      const ::torch::NoGradGuard constant;
      module_->train(false);
      return outputs_for({inputs, targets});
    });
    const auto n = static_cast<std::int64_t>(wanted_.classes);
    std::vector<std::int64_t> fitting{2};
    if (wanted_.is_text)
      fitting.push_back(static_cast<std::int64_t>(wanted_.input_shape[0]));
    fitting.push_back(n == 0 ? 1 : n);
    const bool is_flat = n == 0 && outputs.dim() == 1 && outputs.size(0) == 2;
    if (outputs.sizes() != fitting && !is_flat)
      throw refusal(what_ + ": its outputs for 2 samples are of shape " + text_of(outputs.sizes())
                    + ", and the targets of the data need " + text_of(fitting));
  }

private:
  std::string sample_shape() const {
    return text_of(std::vector<std::int64_t>(wanted_.input_shape.begin(), wanted_.input_shape.end()));
  }

  static Tensor view_of(std::span<const float> values, std::vector<std::int64_t> shape) {
    return ::torch::from_blob(const_cast<float*>(values.data()), shape); // only read
  }

  Tensor outputs_for(const minibatch& samples) {
    std::vector<std::int64_t> shape{static_cast<std::int64_t>(samples.targets.size())};
    shape.insert(shape.end(), wanted_.input_shape.begin(), wanted_.input_shape.end());
    const auto inputs = view_of(samples.inputs, shape);
    return module_->forward(wanted_.is_text ? inputs.to(::torch::kLong) : inputs);
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
  at::set_num_threads(threads);
}

} // namespace

/// The function that `make_network_name` names.
extern "C" __attribute__((visibility("default"))) void
gossamer_torch_make_network_1(const gossamer::compute::libtorch::network_request& wanted,
                              std::unique_ptr<gossamer::compute::libtorch::network>& made) {
  using namespace gossamer::compute::libtorch;
  configure(wanted.threads);
  const std::map<std::string, std::unique_ptr<network> (*)(const network_request&)> kinds{
      {"cnn", make_cnn},         {"resnet", make_resnet},           {"vgg", make_vgg},
      {"alexnet", make_alexnet}, {"transformer", make_transformer}, {"torchscript", make_torchscript}};
  made = translated("model '" + wanted.kind + "'", [&] { return kinds.at(wanted.kind)(wanted); });
}
