// The models that LibTorch computes. Their networks are built in networks/, in a library of its own.
#include "gossamer/base/error.hpp"
#include "gossamer/base/file.hpp"
#include "gossamer/base/within_memory.hpp"
#include "gossamer/compute/models/detail/entries.hpp"
#include "gossamer/compute/torch/detail/library.hpp"
#include "gossamer/compute/torch/detail/torch_model.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace gossamer::compute::detail {

namespace {

using libtorch::network_request;

parameter whole(std::string key, std::string fallback, std::string meaning, double min, double max) {
  return {.key = std::move(key),
          .kind = parameter::type::integer,
          .fallback = std::move(fallback),
          .meaning = std::move(meaning),
          .min = min,
          .max = max};
}

parameter threads_parameter() {
  return whole("threads", "1", "that compute one gradient; the workers of a process have the same number", 1, 1024);
}

network_request request(std::string kind, const arguments& given, const dataset& train,
                        std::initializer_list<std::string_view> numbers) {
  if (train.sparse())
    throw error(errc::usage, fmt::format("model '{}' takes dense samples, and the data is sparse", kind),
                "use linear, logistic, softmax or mlp");
  network_request result{.kind = std::move(kind),
                         .input_shape = train.shape,
                         .classes = train.classes,
                         .is_text = train.is_text,
                         .threads = static_cast<int>(given.integer("threads"))};
  if (result.input_shape.empty())
    result.input_shape = {train.features};
  for (const auto key : numbers)
    result.numbers.emplace(key, given.integer(key));
  return result;
}

double squared(double x) { return x * x; }

/// Refuses a model before LibTorch takes the memory. @param weights at least so many; biases and the like are left out
void require_memory(std::string_view name, double weights) {
  const auto sentence = fmt::format("model '{}' would have about {:.2g} parameters", name, weights);
  if (weights > INT32_MAX)
    throw error(errc::usage, fmt::format("{}, and {} are allowed", sentence, INT32_MAX), "choose a smaller one");
  const auto needed = static_cast<std::uint64_t>(2 * sizeof(float) * weights);
  if (needed > physical_memory())
    throw error(errc::usage,
                fmt::format("{}, which take {} with their gradients, and this machine has {} of memory", sentence,
                            byte_count(needed), byte_count(physical_memory())),
                "choose a smaller one");
}

std::unique_ptr<model> open(const network_request& wanted, const arguments& given, const dataset& train) {
  return std::make_unique<libtorch::torch_model>(libtorch::open_network(wanted), train, given.real32("l2"));
}

/// @param side least height and width of a picture, in pixels
void require_pictures(std::string_view name, const dataset& data, std::size_t side) {
  require_classes(name, data);
  if (data.is_text || data.shape.size() != 3)
    throw error(errc::usage, fmt::format("model '{}' takes pictures, and the data has none", name),
                "use cifar10, idx, digits, or npz with X of shape (samples, channels, height, width)");
  if (data.shape[1] < side || data.shape[2] < side)
    throw error(errc::usage,
                fmt::format("model '{}' takes pictures of at least {} x {} pixels, and those of the data have {} x {}",
                            name, side, side, data.shape[1], data.shape[2]),
                "use cnn");
}

std::unique_ptr<model> make_cnn(const arguments& given, const dataset& train) {
  require_pictures("cnn", train, 4);
  const auto width = given.real("width"), hidden = given.real("hidden");
  const auto pixels = (train.shape[1] / 4) * (train.shape[2] / 4);
  require_memory("cnn", 25 * 2 * squared(width)
                            + hidden * (2 * width * static_cast<double>(pixels) + static_cast<double>(train.classes)));
  return open(request("cnn", given, train, {"width", "hidden"}), given, train);
}

std::unique_ptr<model> make_resnet(const arguments& given, const dataset& train) {
  require_pictures("resnet", train, 4);
  if (given.integer("depth") % 6 != 2)
    throw error(errc::usage, fmt::format("depth of model 'resnet' is {}", given.integer("depth")),
                "it is 6 n + 2: 8, 14, 20, 26, 32, ...");
  // two convolutions of each block, in stages of once, twice and four times the width
  require_memory("resnet", 9 * (given.real("depth") - 8) / 3 * (1 + 4 + 16) * squared(given.real("width")));
  return open(request("resnet", given, train, {"depth", "width"}), given, train);
}

std::unique_ptr<model> make_vgg(const arguments& given, const dataset& train) {
  require_pictures("vgg", train, 32);
  auto wanted = request("vgg", given, train, {});
  wanted.numbers.emplace("depth", std::stoi(given.text("depth")));
  return open(wanted, given, train);
}

std::unique_ptr<model> make_alexnet(const arguments& given, const dataset& train) {
  require_pictures("alexnet", train, 16);
  require_memory("alexnet", squared(given.real("hidden")));
  return open(request("alexnet", given, train, {"hidden"}), given, train);
}

std::unique_ptr<model> make_transformer(const arguments& given, const dataset& train) {
  const auto context = static_cast<std::size_t>(given.integer("context"));
  if (!train.is_text)
    throw error(errc::usage, "model 'transformer' learns text, and the data is none", "use text:file=...");
  if (train.features != context)
    throw error(errc::usage,
                fmt::format("the samples of the data are {} bytes long, and context of model 'transformer' is {}",
                            train.features, context),
                "give both the same: text:file=...,context=N and transformer:context=N");
  const auto width = given.integer("width");
  if (width % given.integer("heads") != 0)
    throw error(errc::usage,
                fmt::format("width of model 'transformer' is {}, and it has {} heads", width, given.integer("heads")),
                "each head has the same share of the width");
  require_memory("transformer", 12 * given.real("layers") * squared(given.real("width")));
  return open(request("transformer", given, train, {"layers", "width", "heads", "context"}), given, train);
}

libtorch::value_range range_of(const dataset& data) {
  std::vector<float> row(data.features);
  data.copy_row(0, row);
  libtorch::value_range result{row.front(), row.front()};
  for (std::size_t i = 0; i < data.samples; ++i) {
    data.copy_row(i, row);
    for (const float v : row) {
      result.least = std::min(result.least, v);
      result.most = std::max(result.most, v);
      result.whole = result.whole && v == std::floor(v);
    }
  }
  return result;
}

std::unique_ptr<model> make_torchscript(const arguments& given, const dataset& train) {
  auto wanted = request("torchscript", given, train, {});
  wanted.file = given.text("file");
  wanted.range = [&train] { return range_of(train); };
  return open(wanted, given, train);
}

constexpr auto arithmetic = "LibTorch's; bench/torch_bench.py compares it with a loop in Python";

} // namespace

model_entry cnn_model() {
  return {
      .about = {.name = "cnn",
                .summary = "two convolutions of pictures, by LibTorch",
                .maths = "twice conv 5x5, relu, max-pool 2x2, of width and 2 width channels; then two fully connected "
                         "layers; begins at weights N(0, 2 / inputs of a unit), biases 0",
                .cost = arithmetic,
                .parameters = {whole("width", "16", "channels of the first convolution", 1, 4096),
                               whole("hidden", "128", "width of the hidden layer", 1, 1e6), l2_parameter(),
                               threads_parameter()}},
      .make = make_cnn,
      .augments = true,
  };
}

model_entry resnet_model() {
  return {
      .about = {.name = "resnet",
                .summary = "residual network for small pictures, by LibTorch",
                .maths =
                    "conv 3x3, then three stages of (depth - 2) / 6 blocks of width, 2 width and 4 width channels, "
                    "the mean over the picture, and one layer\n"
                    "block: relu(x + bn(conv(relu(bn(conv x))))), shortcuts without parameters (option A)",
                .reference = "He, Zhang, Ren, Sun, Deep residual learning for image recognition, 2015, section 4.2",
                .cost = arithmetic,
                .parameters = {whole("depth", "20", "layers with weights: 6 n + 2", 8, 1202),
                               whole("width", "16", "channels of the first stage", 1, 4096), l2_parameter(),
                               threads_parameter()}},
      .make = make_resnet,
      .augments = true,
  };
}

model_entry vgg_model() {
  return {
      .about = {.name = "vgg",
                .summary = "plain deep convolutional network, by LibTorch",
                .maths =
                    "five stages of convolutions 3x3 of 64 to 512 channels, each with batch normalisation and relu, "
                    "and max-pool 2x2; the mean over the picture, and one layer",
                .reference = "Simonyan, Zisserman, Very deep convolutional networks for large-scale image recognition, "
                             "2015, table 1",
                .cost = arithmetic,
                .parameters = {{.key = "depth",
                                .kind = parameter::type::choice,
                                .fallback = "11",
                                .meaning = "layers with weights in the original, which had three in the end",
                                .choices = {"11", "13", "16", "19"}},
                               l2_parameter(),
                               threads_parameter()}},
      .make = make_vgg,
      .augments = true,
  };
}

model_entry alexnet_model() {
  return {
      .about = {.name = "alexnet",
                .summary = "AlexNet for small pictures, by LibTorch",
                .maths = "conv 3x3 of 64 (stride 2), 192, 384, 256 and 256 channels with relu, max-pool 2x2 after the "
                         "first, second and last; three fully connected layers; no dropout",
                .reference = "Krizhevsky, Sutskever, Hinton, ImageNet classification with deep convolutional neural "
                             "networks, 2012",
                .cost = arithmetic,
                .parameters = {whole("hidden", "4096", "width of the hidden layers", 1, 1e5), l2_parameter(),
                               threads_parameter()}},
      .make = make_alexnet,
      .augments = true,
  };
}

model_entry transformer_model() {
  return {
      .about = {.name = "transformer",
                .summary = "causal language model on bytes, by LibTorch",
                .maths =
                    "x = token + position; x += attention(norm(x)), x += W gelu(V norm(x)) in each layer; logits = "
                    "head(norm(x)); loss: mean cross entropy of the next byte\n"
                    "begins at weights N(0, 0.02^2), those before an addition smaller by sqrt(2 layers)",
                .reference = "Vaswani et al., Attention is all you need, 2017; Radford et al., Language models are "
                             "unsupervised multitask learners, 2019",
                .cost = arithmetic,
                .parameters = {whole("layers", "2", "of attention", 1, 1000),
                               whole("width", "128", "of a byte", 1, 65536),
                               whole("heads", "4", "of attention; width is a multiple", 1, 1024),
                               whole("context", "64", "bytes of a sample, the same as the data's", 1, 65536),
                               l2_parameter(), threads_parameter()}},
      .make = make_transformer,
  };
}

model_entry torchscript_model() {
  return {
      .about = {.name = "torchscript",
                .summary = "any module that PyTorch has scripted, by LibTorch",
                .maths = "loss: cross entropy of its outputs (samples, classes); for real targets (z - y)^2 / 2 of its "
                         "outputs (samples) or (samples, 1); of text, the mean over the bytes\n"
                         "begins at the parameters in the file, which is the same on all nodes; docs/your-own-model.md",
                .cost = arithmetic,
                .parameters = {{.key = "file",
                                .kind = parameter::type::path,
                                .fallback = "",
                                .meaning = "what torch.jit.script(model).save(...) has written",
                                .required = true},
                               l2_parameter(),
                               threads_parameter()}},
      .make = make_torchscript,
      .augments = true,
  };
}

} // namespace gossamer::compute::detail
