#include "gossamer/compute/torch/networks/detail/nn_module.hpp"

namespace gossamer::compute::libtorch {

namespace {

namespace nn = ::torch::nn;

/// 5x5 convolution, rectifier, 2x2 maximum, twice; then two fully connected layers.
struct cnn_module : nn::Module {
  explicit cnn_module(const network_request& wanted) {
    const auto side = [&](std::size_t i) { return static_cast<std::int64_t>(wanted.input_shape.at(i)); };
    const auto width = wanted.numbers.at("width"), hidden = wanted.numbers.at("hidden");
    const auto classes = static_cast<std::int64_t>(wanted.classes);
    conv1 = register_module("conv1", nn::Conv2d(nn::Conv2dOptions(side(0), width, 5).padding(2)));
    conv2 = register_module("conv2", nn::Conv2d(nn::Conv2dOptions(width, 2 * width, 5).padding(2)));
    fc1 = register_module("fc1", nn::Linear(2 * width * (side(1) / 4) * (side(2) / 4), hidden));
    fc2 = register_module("fc2", nn::Linear(hidden, classes));
  }

  ::torch::Tensor forward(::torch::Tensor x) {
    x = ::torch::max_pool2d(::torch::relu(conv1(x)), 2);
    x = ::torch::max_pool2d(::torch::relu(conv2(x)), 2);
    return fc2(::torch::relu(fc1(x.flatten(1))));
  }

  nn::Conv2d conv1{nullptr}, conv2{nullptr};
  nn::Linear fc1{nullptr}, fc2{nullptr};
};
TORCH_MODULE_IMPL(cnn, cnn_module);

} // namespace

std::unique_ptr<network> make_cnn(const network_request& wanted) { return make_nn_network<cnn>(wanted); }

} // namespace gossamer::compute::libtorch
