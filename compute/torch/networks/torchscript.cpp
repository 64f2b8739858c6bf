#include "gossamer/compute/torch/networks/detail/module.hpp"

#include <algorithm>
#include <torch/script.h>

namespace gossamer::compute::libtorch {

namespace {

class script_module final : public module {
public:
  explicit script_module(::torch::jit::Module m) : as_read_(std::move(m)), module_(copy_of(as_read_)) {}

  named_tensors parameters() const override { return listed(module_.named_parameters()); }
  named_tensors buffers() const override { return listed(module_.named_buffers()); }
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

  template <class Named>
  static named_tensors listed(const Named& all) {
    named_tensors result;
    for (const auto& one : all)
      result.emplace_back(one.name, one.value);
    return result;
  }

  /// The original for copies. LibTorch takes tensors that are views of the same memory, as those of a network become,
  /// for one tensor.
  ::torch::jit::Module as_read_;
  ::torch::jit::Module module_;
};

::torch::jit::Module load(const std::string& path) {
  try {
    return ::torch::jit::load(path, ::torch::kCPU);
  } catch (const std::exception&) { // LibTorch's words are about archives
    throw refusal("'" + path
                  + "' is no file of TorchScript that this version of LibTorch reads; "
                    "torch.jit.script(model).save(...) writes one, scripts/export_model.py does");
  }
}

} // namespace

std::unique_ptr<network> make_torchscript(const network_request& wanted) {
  const auto what = "'" + wanted.file + "'";
  auto made = std::make_unique<script_module>(load(wanted.file));
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
  return make_network_of(std::move(made), wanted, what, [&](tensor& t) {
    const auto& from = starts.at(t.name);
    t.values.assign(from.data_ptr<float>(), from.data_ptr<float>() + from.numel());
  });
}

} // namespace gossamer::compute::libtorch
