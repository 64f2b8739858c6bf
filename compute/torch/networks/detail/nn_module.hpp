#pragma once

#include "gossamer/compute/torch/networks/detail/module.hpp"

namespace gossamer::compute::libtorch {

/// A `torch::nn::Module` with a member `forward(Tensor)`, made from a user's request.
template <class Holder>
class nn_module final : public module {
public:
  explicit nn_module(network_request wanted) : wanted_(std::move(wanted)), holder_(wanted_) {}

  named_tensors parameters() const override { return listed(holder_->named_parameters()); }
  named_tensors buffers() const override { return listed(holder_->named_buffers()); }
  ::torch::Tensor forward(const ::torch::Tensor& inputs) override { return holder_->forward(inputs); }
  void train(bool on) override { holder_->train(on); }
  void train_only(const std::set<std::string>& parts) override {
    holder_->train(false);
    for (const auto& one : holder_->named_modules("", true))
      if (parts.contains(one.key()))
        one.value()->train(true); // with its own submodules, of which layers have none
  }
  std::unique_ptr<module> clone() const override { return std::make_unique<nn_module>(wanted_); }

private:
  template <class Dictionary>
  static named_tensors listed(const Dictionary& all) {
    named_tensors result;
    for (const auto& one : all)
      result.emplace_back(one.key(), one.value());
    return result;
  }

  network_request wanted_;
  Holder holder_;
};

template <class Holder>
std::unique_ptr<network> make_nn_network(const network_request& wanted,
                                         const describe_start& start = start_before_rectifiers) {
  return make_network_of(std::make_unique<nn_module<Holder>>(wanted), wanted, "model '" + wanted.kind + "'", start);
}

} // namespace gossamer::compute::libtorch
