// A causal language model on bytes: Vaswani et al., Attention is all you need, 2017, decoder without encoder; layers
// normalise before, and begin, as in Radford et al., Language models are unsupervised multitask learners, 2019.
#include "gossamer/compute/torch/networks/detail/nn_module.hpp"

#include <cmath>

namespace gossamer::compute::libtorch {

namespace {

namespace nn = ::torch::nn;

struct layer_module : nn::Module {
  layer_module(std::int64_t width, std::int64_t heads) : heads_{heads} {
    norm1 = register_module("norm1", nn::LayerNorm(nn::LayerNormOptions({width})));
    attention = register_module("attention", nn::Linear(width, 3 * width));
    attention_out = register_module("attention_out", nn::Linear(width, width));
    norm2 = register_module("norm2", nn::LayerNorm(nn::LayerNormOptions({width})));
    mlp = register_module("mlp", nn::Linear(width, 4 * width));
    mlp_out = register_module("mlp_out", nn::Linear(4 * width, width));
  }

  ::torch::Tensor forward(::torch::Tensor x, const ::torch::Tensor& future) {
    x = x + attention_out(attend(norm1(x), future));
    return x + mlp_out(::torch::gelu(mlp(norm2(x))));
  }

  /// softmax(q k^T / sqrt(d)) v for each head, without a view of the future.
  ::torch::Tensor attend(const ::torch::Tensor& x, const ::torch::Tensor& future) {
    const auto n = x.size(0), length = x.size(1), width = x.size(2), d = width / heads_;
    const auto qkv = attention(x).view({n, length, 3, heads_, d}).permute({2, 0, 3, 1, 4});
    const auto scores = qkv[0].matmul(qkv[1].transpose(2, 3)) / std::sqrt(static_cast<double>(d));
    const auto seen = scores.masked_fill(future, -INFINITY).softmax(-1);
    return seen.matmul(qkv[2]).transpose(1, 2).reshape({n, length, width});
  }

  nn::LayerNorm norm1{nullptr}, norm2{nullptr};
  nn::Linear attention{nullptr}, attention_out{nullptr}, mlp{nullptr}, mlp_out{nullptr};

private:
  std::int64_t heads_;
};
TORCH_MODULE_IMPL(layer, layer_module);

struct transformer_module : nn::Module {
  explicit transformer_module(const network_request& wanted) {
    const auto width = wanted.numbers.at("width"), context = wanted.numbers.at("context");
    const auto symbols = static_cast<std::int64_t>(wanted.classes);
    token = register_module("token", nn::Embedding(symbols, width));
    position = register_module("position", nn::Embedding(context, width));
    for (std::int64_t l = 0; l < wanted.numbers.at("layers"); ++l)
      layers.push_back(register_module("layer" + std::to_string(l), layer(width, wanted.numbers.at("heads"))));
    norm = register_module("norm", nn::LayerNorm(nn::LayerNormOptions({width})));
    head = register_module("head", nn::Linear(nn::LinearOptions(width, symbols).bias(false)));
    positions_ = ::torch::arange(context);
    future_ = ::torch::ones({context, context}, ::torch::kBool).triu(1);
  }

  ::torch::Tensor forward(const ::torch::Tensor& tokens) {
    auto x = token(tokens) + position(positions_);
    for (auto& one : layers)
      x = one(x, future_);
    return head(norm(x));
  }

  nn::Embedding token{nullptr}, position{nullptr};
  std::vector<layer> layers;
  nn::LayerNorm norm{nullptr};
  nn::Linear head{nullptr};

private:
  ::torch::Tensor positions_, future_;
};
TORCH_MODULE_IMPL(transformer, transformer_module);

} // namespace

std::unique_ptr<network> make_transformer(const network_request& wanted) {
  const auto layers = static_cast<double>(wanted.numbers.at("layers"));
  return make_nn_network<transformer>(wanted, [layers](tensor& t) {
    if (t.shape.size() > 1)
      t.deviation = t.name.ends_with("_out.weight") ? 0.02 / std::sqrt(2 * layers) : 0.02;
    else if (t.name.ends_with("weight"))
      t.mean = 1;
  });
}

} // namespace gossamer::compute::libtorch
