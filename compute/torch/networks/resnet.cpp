// The residual networks for CIFAR of He, Zhang, Ren, Sun, Deep residual learning for image recognition, 2015,
// section 4.2: depth 6 n + 2, and shortcuts without parameters (option A).
#include "gossamer/compute/torch/networks/detail/nn_module.hpp"

namespace gossamer::compute::libtorch {

namespace {

namespace nn = ::torch::nn;

nn::Conv2d convolution(std::int64_t from, std::int64_t to, std::int64_t stride) {
  return nn::Conv2d(nn::Conv2dOptions(from, to, 3).stride(stride).padding(1).bias(false));
}

/// y = relu(x + bn(conv(relu(bn(conv(x)))))), where x loses every other pixel and gains channels of zeros as y does.
struct block_module : nn::Module {
  block_module(std::int64_t from, std::int64_t to, std::int64_t stride) : stride_{stride}, more_channels_{to - from} {
    conv1 = register_module("conv1", convolution(from, to, stride));
    bn1 = register_module("bn1", nn::BatchNorm2d(to));
    conv2 = register_module("conv2", convolution(to, to, 1));
    bn2 = register_module("bn2", nn::BatchNorm2d(to));
  }

  ::torch::Tensor forward(const ::torch::Tensor& x) {
    const auto y = bn2(conv2(::torch::relu(bn1(conv1(x)))));
    return ::torch::relu(y + shortcut(x));
  }

  ::torch::Tensor shortcut(::torch::Tensor x) const {
    if (stride_ != 1)
      x = x.slice(2, 0, c10::nullopt, stride_).slice(3, 0, c10::nullopt, stride_);
    if (more_channels_ != 0)
      x = ::torch::constant_pad_nd(x, {0, 0, 0, 0, more_channels_ / 2, more_channels_ - more_channels_ / 2});
    return x;
  }

  nn::Conv2d conv1{nullptr}, conv2{nullptr};
  nn::BatchNorm2d bn1{nullptr}, bn2{nullptr};

private:
  std::int64_t stride_, more_channels_;
};
TORCH_MODULE_IMPL(block, block_module);

struct resnet_module : nn::Module {
  explicit resnet_module(const network_request& wanted) {
    const auto blocks = (wanted.numbers.at("depth") - 2) / 6;
    std::int64_t width = wanted.numbers.at("width");
    conv1 = register_module("conv1", convolution(static_cast<std::int64_t>(wanted.input_shape.at(0)), width, 1));
    bn1 = register_module("bn1", nn::BatchNorm2d(width));
    for (int stage = 0; stage < 3; ++stage) {
      nn::Sequential all;
      for (std::int64_t i = 0; i < blocks; ++i) {
        const bool shrinks = stage > 0 && i == 0;
        all->push_back(shrinks ? block(width, 2 * width, 2) : block(width, width, 1));
        width *= shrinks ? 2 : 1;
      }
      stages.push_back(register_module("layer" + std::to_string(stage + 1), all));
    }
    fc = register_module("fc", nn::Linear(width, static_cast<std::int64_t>(wanted.classes)));
  }

  ::torch::Tensor forward(::torch::Tensor x) {
    x = ::torch::relu(bn1(conv1(x)));
    for (auto& stage : stages)
      x = stage->forward(x);
    return fc(x.mean({2, 3}));
  }

  nn::Conv2d conv1{nullptr};
  nn::BatchNorm2d bn1{nullptr};
  std::vector<nn::Sequential> stages;
  nn::Linear fc{nullptr};
};
TORCH_MODULE_IMPL(resnet, resnet_module);

} // namespace

std::unique_ptr<network> make_resnet(const network_request& wanted) { return make_nn_network<resnet>(wanted); }

} // namespace gossamer::compute::libtorch
