// Krizhevsky, Sutskever, Hinton, ImageNet classification with deep convolutional neural networks, 2012, at the size of
// CIFAR's pictures: five convolutions and three fully connected layers, without dropout.
#include "gossamer/compute/torch/networks/detail/nn_module.hpp"

namespace gossamer::compute::libtorch {

namespace {

namespace nn = ::torch::nn;

struct alexnet_module : nn::Module {
  explicit alexnet_module(const network_request& wanted) {
    auto width = static_cast<std::int64_t>(wanted.input_shape.at(0));
    const auto convolution = [&](std::int64_t next, std::int64_t stride, bool shrinks) {
      features->push_back(nn::Conv2d(nn::Conv2dOptions(width, next, 3).stride(stride).padding(1)));
      features->push_back(nn::ReLU(nn::ReLUOptions(true)));
      if (shrinks)
        features->push_back(nn::MaxPool2d(2));
      width = next;
    };
    convolution(64, 2, true);
    convolution(192, 1, true);
    convolution(384, 1, false);
    convolution(256, 1, false);
    convolution(256, 1, true);
    register_module("features", features);
    const auto side = [&](std::size_t i) { return static_cast<std::int64_t>((wanted.input_shape.at(i) + 1) / 2 / 8); };
    const auto hidden = wanted.numbers.at("hidden");
    fc1 = register_module("fc1", nn::Linear(width * side(1) * side(2), hidden));
    fc2 = register_module("fc2", nn::Linear(hidden, hidden));
    fc3 = register_module("fc3", nn::Linear(hidden, static_cast<std::int64_t>(wanted.classes)));
  }

  ::torch::Tensor forward(::torch::Tensor x) {
    x = features->forward(x).flatten(1);
    return fc3(::torch::relu(fc2(::torch::relu(fc1(x)))));
  }

  nn::Sequential features;
  nn::Linear fc1{nullptr}, fc2{nullptr}, fc3{nullptr};
};
TORCH_MODULE_IMPL(alexnet, alexnet_module);

} // namespace

std::unique_ptr<network> make_alexnet(const network_request& wanted) { return make_nn_network<alexnet>(wanted); }

} // namespace gossamer::compute::libtorch
