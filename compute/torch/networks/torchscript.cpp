#include "gossamer/compute/torch/networks/detail/module.hpp"

#include <algorithm>
#include <torch/script.h>

namespace gossamer::compute::libtorch {

namespace {

class script_module final : public module {
public:
  explicit script_module(::torch::jit::Module m) : module_(std::move(m)) {}

  named_tensors parameters() const override { return listed(module_.named_parameters()); }
  named_tensors buffers() const override { return listed(module_.named_buffers()); }
  ::torch::Tensor forward(const ::torch::Tensor& inputs) override { return module_.forward({inputs}).toTensor(); }
  void train(bool on) override { module_.train(on); }
  std::unique_ptr<module> clone() const override { return std::make_unique<script_module>(module_.deepcopy()); }

private:
  template <class Named>
  static named_tensors listed(const Named& all) {
    named_tensors result;
    for (const auto& one : all)
      result.emplace_back(one.name, one.value);
    return result;
  }

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
