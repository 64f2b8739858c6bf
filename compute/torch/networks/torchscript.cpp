#include "gossamer/compute/torch/networks/detail/module.hpp"
#include "gossamer/compute/torch/networks/detail/words.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <torch/script.h>
#include <tuple>

namespace gossamer::compute::libtorch {

namespace {

class script_module final : public module {
public:
  explicit script_module(::torch::jit::Module m) : as_read_(std::move(m)), module_(copy_of(as_read_)) {}

  /// Lists a tied parameter once, by its first name.
  named_tensors parameters() const override {
    named_tensors result;
    std::set<const void*> known;
    for (const auto& one : module_.named_parameters())
      if (known.insert(one.value.unsafeGetTensorImpl()).second)
        result.emplace_back(one.name, one.value);
    return result;
  }
  /// Returns the further names of tied parameters, by the first.
  std::map<std::string, std::vector<std::string>> other_names() const {
    std::map<std::string, std::vector<std::string>> result;
    std::map<const void*, std::string> first;
    for (const auto& one : module_.named_parameters())
      if (const auto [at, is_new] = first.try_emplace(one.value.unsafeGetTensorImpl(), one.name); !is_new)
        result[at->second].push_back(one.name);
    return result;
  }
  named_tensors buffers() const override {
    named_tensors result;
    for (const auto& one : module_.named_buffers())
      result.emplace_back(one.name, one.value);
    return result;
  }
  ::torch::Tensor forward(const ::torch::Tensor& inputs) override { return module_.forward({inputs}).toTensor(); }
  void train(bool on) override { module_.train(on); }
  void train_only(const std::set<std::string>& parts) override {
    for (auto one : module_.named_modules())
      if (one.value.hasattr("training"))
        one.value.setattr("training", parts.contains(one.name));
  }
  std::unique_ptr<module> clone() const override { return std::make_unique<script_module>(as_read_); }

private:
  /// Gives the copy leaf parameters of its own: a plain deepcopy would be computed from the original's.
  static ::torch::jit::Module copy_of(const ::torch::jit::Module& from) {
    const ::torch::NoGradGuard constant;
    auto copy = from.deepcopy();
    std::vector<bool> learnt;
    for (const auto& p : from.parameters())
      learnt.push_back(p.requires_grad());
    for (std::size_t i = 0; auto p : copy.parameters())
      p.requires_grad_(learnt.at(i++));
    return copy;
  }

  /// The original for copies. LibTorch takes tensors that are views of the same memory, as those of a network become,
  /// for one tensor.
  ::torch::jit::Module as_read_;
  ::torch::jit::Module module_;
};

/// What to do with a module that another PyTorch has exported.
std::string advice_for(const std::string& text) {
  const auto build = "build gossamer with the LibTorch of the PyTorch that exported it (-D GOSSAMER_TORCH_DIR=...; "
                     "docs/your-own-model.md)";
  if (text.find("scaled_dot_product_attention") != std::string::npos)
    return std::string{"export it by scripts/export_model.py with --plain-attention, or "} + build;
  return std::string{build} + ", or export it with a PyTorch of this version or earlier";
}

/// Gives each tensor memory of its own, and tied ones the same, because `deepcopy` takes all views of one memory for
/// one tensor.
void separate(const ::torch::jit::Module& m) {
  const ::torch::NoGradGuard constant;
  std::map<std::tuple<const void*, std::vector<std::int64_t>, std::vector<std::int64_t>>, ::torch::Tensor> copies;
  std::vector<std::pair<::torch::Tensor, ::torch::Tensor>> moves; // made last, as they free addresses
  c10::IValue{m._ivalue()}.visit([&](const c10::IValue& one) {
    if (one.isTensor() && one.toTensor().has_storage()) {
      const auto& t = one.toTensor();
      auto& copy = copies[{t.data_ptr(), t.sizes().vec(), t.strides().vec()}];
      if (!copy.defined())
        copy = t.detach().clone();
      moves.emplace_back(t, copy);
    }
    return false;
  });
  for (auto& [t, copy] : moves)
    t.set_data(copy);
}

::torch::jit::Module load(const std::string& path) {
  try {
    auto read = ::torch::jit::load(path, ::torch::kCPU);
    separate(read);
    return read;
  } catch (const std::exception& e) {
    const auto text = text_of(e);
    const auto sentence = "'" + path + "' cannot be read by " + libtorch_version() + ": " + first_lines(text);
    if (text.starts_with("PytorchStreamReader"))
      throw refusal(sentence + "; scripts/export_model.py writes a file of TorchScript");
    throw refusal(sentence + "; " + advice_for(text));
  }
}

/// Refuses a module that takes or gives something else than one tensor, before it is computed.
void require_one_tensor(const ::torch::jit::Module& m, const std::string& what) {
  const auto forward = m.find_method("forward");
  if (!forward)
    throw refusal(what + " has no method forward");
  const auto& schema = forward->function().getSchema();
  const auto is_tensor = [](const c10::TypePtr& type) {
    return c10::TensorType::get()->isSubtypeOf(*type) || type->isSubtypeOf(*c10::TensorType::get());
  };
  std::string inputs;
  std::size_t needed = 0;
  bool fits = true;
  for (std::size_t i = 1; i < schema.arguments().size(); ++i) { // without self
    const auto& one = schema.arguments()[i];
    inputs += (i == 1 ? "" : ", ") + one.name() + ": " + one.type()->annotation_str();
    needed += one.default_value() ? 0 : 1;
    fits = fits && (i > 1 || is_tensor(one.type()));
  }
  if (needed > 1 || schema.arguments().size() < 2 || !fits)
    throw refusal(what + ": its forward takes (" + inputs + "), and a sample of the data is one tensor; "
                  + "put it into a module whose forward takes one tensor and makes these of it");
  const auto& output = schema.returns().at(0).type();
  if (!is_tensor(output))
    throw refusal(what + ": its forward returns " + output->annotation_str()
                  + ", and the loss is of one tensor; put it into a module that returns this tensor");
}

} // namespace

std::unique_ptr<network> make_torchscript(const network_request& wanted) {
  const auto what = "'" + wanted.file + "'";
  const auto read = load(wanted.file);
  require_one_tensor(read, what);
  auto made = std::make_unique<script_module>(read);
  const auto parameters = made->parameters();
  if (parameters.empty())
    throw refusal(what + " has no parameters, so that there is nothing to train");
  if (std::ranges::none_of(parameters, [](const auto& one) { return one.second.requires_grad(); }))
    throw refusal(what + ": none of its parameters requires a gradient, so that there is nothing to train");
  std::map<std::string, ::torch::Tensor> starts;
  for (const auto& [name, p] : parameters) {
    if (p.scalar_type() != ::torch::kFloat)
      throw refusal(what + ": parameter '" + name + "' is of type " + c10::toString(p.scalar_type())
                    + ", and must be of 32-bit floats; model.float() makes it so");
    starts.emplace(name, p.detach().contiguous().clone());
  }
  auto others = made->other_names();
  return make_network_of(std::move(made), wanted, what, [&](tensor& t) {
    const auto& from = starts.at(t.name);
    t.other_names = others[t.name];
    t.values.assign(from.data_ptr<float>(), from.data_ptr<float>() + from.numel());
  });
}

} // namespace gossamer::compute::libtorch
