#pragma once

#include "gossamer/compute/dataset.hpp"
#include "gossamer/compute/torch/detail/library.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

// The models of LibTorch, which some builds lack, and data that they learn from.
namespace gossamer::support {

/// Returns sin(pace k), as golden.py does.
inline std::vector<float> wave(std::size_t count, double pace) {
  std::vector<float> values(count);
  for (std::size_t k = 0; k < count; ++k)
    values[k] = static_cast<float>(std::sin(pace * static_cast<double>(k)));
  return values;
}

/// Returns pictures of one channel, of three classes that are dealt in turn.
inline compute::dataset small_pictures(std::size_t samples, std::size_t side = 8) {
  compute::dataset data{.samples = samples, .features = side * side, .classes = 3, .shape = {1, side, side}};
  const auto pixels = wave(samples * data.features, 0.13);
  data.dense.assign(pixels.begin(), pixels.end());
  for (std::size_t i = 0; i < samples; ++i)
    data.targets.push_back(static_cast<float>(i % 3));
  return data;
}

inline compute::dataset small_text(std::size_t samples, std::size_t context) {
  compute::dataset data{.samples = samples, .features = context, .classes = 256, .shape = {context}, .is_text = true};
  const auto byte = [](std::size_t k) { return static_cast<float>((k * k + 3 * k) % 31); };
  for (std::size_t k = 0; k < samples * context; ++k)
    data.dense.push_back(byte(k));
  for (std::size_t i = 1; i <= samples; ++i)
    data.targets.push_back(byte(i * context));
  return data;
}

/// The smallest model of each kind. torchscript needs a file, and has tests of its own.
inline const std::vector<std::string> small_torch_models{"cnn:width=2,hidden=5", "resnet:depth=8,width=2",
                                                         "vgg:depth=11", "alexnet:hidden=6",
                                                         "transformer:layers=1,width=8,heads=2,context=6"};

inline bool is_torch_model(std::string_view name) {
  return name == "torchscript" || std::ranges::any_of(small_torch_models, [&](const std::string& text) {
           return text.substr(0, text.find(':')) == name;
         });
}

inline compute::dataset data_for(std::string_view model, std::size_t samples) {
  return model.starts_with("transformer") ? small_text(samples, 6)
                                          : small_pictures(samples, model.starts_with("vgg")       ? 32
                                                                    : model.starts_with("alexnet") ? 16
                                                                                                   : 8);
}

/// Skips a test that needs LibTorch if the build lacks it.
#define GOSSAMER_NEEDS_TORCH()                                                                                         \
  if (!gossamer::compute::libtorch::is_there())                                                                        \
  GTEST_SKIP() << "built without LibTorch (scripts/install_dependencies.sh --torch)"

} // namespace gossamer::support
