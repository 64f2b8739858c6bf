// Simonyan, Zisserman, Very deep convolutional networks for large-scale image recognition, 2015, table 1, for pictures
// of 32 x 32 as they are commonly trained there: batch normalisation after each convolution, one fully connected layer.
#include "gossamer/compute/torch/networks/detail/nn_module.hpp"

namespace gossamer::compute::libtorch {

namespace {

namespace nn = ::torch::nn;

constexpr std::int64_t maximum = 0; ///< of 2x2 pixels, among the widths of convolutions

std::vector<std::int64_t> layers(std::int64_t depth) {
  std::vector<std::int64_t> result;
  const std::int64_t widths[] = {64, 128, 256, 512, 512};
  for (int stage = 0; stage < 5; ++stage) {
    const int convolutions = depth == 11 ? 1 + (stage > 1) : depth == 13 || stage < 2 ? 2 : depth == 16 ? 3 : 4;
    result.insert(result.end(), static_cast<std::size_t>(convolutions), widths[stage]);
    result.push_back(maximum);
  }
  return result;
}

struct vgg_module : nn::Module {
  explicit vgg_module(const network_request& wanted) {
    auto width = static_cast<std::int64_t>(wanted.input_shape.at(0));
    for (const auto next : layers(wanted.numbers.at("depth"))) {
      if (next == maximum) {
        features->push_back(nn::MaxPool2d(2));
        continue;
      }
      features->push_back(nn::Conv2d(nn::Conv2dOptions(width, next, 3).padding(1).bias(false)));
      features->push_back(nn::BatchNorm2d(next));
      features->push_back(nn::ReLU(nn::ReLUOptions(true)));
      width = next;
    }
    register_module("features", features);
    fc = register_module("fc", nn::Linear(width, static_cast<std::int64_t>(wanted.classes)));
  }

  ::torch::Tensor forward(const ::torch::Tensor& x) { return fc(features->forward(x).mean({2, 3})); }

  nn::Sequential features;
  nn::Linear fc{nullptr};
};
TORCH_MODULE_IMPL(vgg, vgg_module);

} // namespace

std::unique_ptr<network> make_vgg(const network_request& wanted) { return make_nn_network<vgg>(wanted); }

} // namespace gossamer::compute::libtorch
