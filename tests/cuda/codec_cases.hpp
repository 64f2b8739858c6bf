#pragma once

#include "gossamer/compress/codec.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

// Cases for codecs on GPUs, run on the processor (host_twin_test.cpp) and on a GPU (gpu_test.cpp).
namespace gossamer::test {

inline const random_stream codec_randomness{11, 3, purpose::quantise};

/// Returns every codec that has a form for GPUs, with the parameters that take other paths.
inline std::vector<std::string> device_specs() {
  std::vector<std::string> specs;
  for (int bits = 1; bits <= 16; ++bits)
    specs.push_back("uniform:bits=" + std::to_string(bits));
  for (const auto* spec : {"min-max",
                           "min-max:bits=3,chunk=10",
                           "min-max:bits=1",
                           "min-max:bits=16,chunk=5000",
                           "min-max:bits=11",
                           "min-max:rounding=nearest,chunk=33",
                           "qsgd",
                           "qsgd:norm=max",
                           "qsgd:norm=max,levels=5,bucket=10",
                           "qsgd:levels=32767,bucket=10000",
                           "terngrad",
                           "terngrad:clip=1.5",
                           "uniform:bits=8,rounding=16",
                           "uniform:bits=11,rounding=16",
                           "min-max:bits=3,chunk=10,rounding=16",
                           "qsgd:norm=max,levels=5,bucket=10,rounding=16",
                           "terngrad:rounding=16",
                           "sign",
                           "scaled-sign",
                           "ssdm",
                           "ssdm:bucket=8",
                           "ssdm:bucket=9001",
                           "ssdm:norm=dropped",
                           "grbs:ratio=3",
                           "grbs:ratio=3,blocks=5",
                           "grbs:ratio=4,layout=tensor",
                           "random-k:indices=seed",
                           "random-k:fraction=0.7,indices=seed,scale=none",
                           "random-p:indices=seed",
                           "top-k",
                           "top-k:k=1",
                           "top-k:fraction=0.3",
                           "top-k:fraction=1"})
    specs.emplace_back(spec);
  return specs;
}

/// Codecs that have no form for GPUs.
inline constexpr std::array host_specs{"identity",
                                       "bfloat16",
                                       "thresholds",
                                       "e3m0",
                                       "chunked-top-k:chunk=100",
                                       "fixed-grid",
                                       "fixed-grid:rounding=16",
                                       "qsgd:code=elias-dense",
                                       "optimal-p:budget=9,bits=5",
                                       "random-p",
                                       "random-k:k=5"};

struct codec_input {
  std::string name;
  std::vector<float> values;
};

inline std::vector<float> normal_values(std::size_t size, float scale = 1) {
  std::vector<float> values(size);
  random_sequence random{{21, 0, purpose::synthetic}, size};
  for (float& x : values)
    x = scale * static_cast<float>(random.normal());
  return values;
}

/// Returns inputs of sizes around all sizes of pieces in kernels, and of special numbers.
inline std::vector<codec_input> codec_inputs() {
  std::vector<codec_input> result;
  for (std::size_t size :
       {0u, 1u, 2u, 7u, 31u, 32u, 33u, 63u, 65u, 255u, 256u, 257u, 511u, 513u, 1000u, 4095u, 4097u, 12'289u})
    result.push_back({"normal " + std::to_string(size), normal_values(size)});
  constexpr auto denormal = std::numeric_limits<float>::denorm_min();
  constexpr auto largest = std::numeric_limits<float>::max();
  result.push_back({"zero", std::vector<float>(100, 0.0f)});
  result.push_back({"negative zero", std::vector<float>(100, -0.0f)});
  result.push_back({"constant", std::vector<float>(100, 0.7f)});
  result.push_back({"smallest", std::vector<float>(100, denormal)});
  auto values = normal_values(300, 1e-41f);
  result.push_back({"denormal", values});
  values = normal_values(300);
  for (std::size_t i = 0; i < values.size(); i += 3)
    values[i] = i % 2 == 0 ? -0.0f : denormal;
  result.push_back({"some denormal", values});
  values[17] = largest;
  result.push_back({"one huge", values});
  values[18] = -largest;
  result.push_back({"two huge", values});
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(i % 5) - 2;
  result.push_back({"many equal", values});
  result.push_back({"all negative", std::vector<float>(70, -3.5f)});
  return result;
}

/// Compares packets byte for byte. Returns the first difference, or an empty text.
inline std::string difference(const compress::packet& a, const compress::packet& b) {
  if (a.codec != b.codec || a.parameter != b.parameter || a.elements != b.elements || a.bits != b.bits)
    return "headers differ: bits " + std::to_string(a.bits) + " and " + std::to_string(b.bits);
  if (a.recipe != b.recipe)
    return "recipes differ";
  if (a.payload.size() != b.payload.size())
    return "sizes differ";
  for (std::size_t i = 0; i < a.payload.size(); ++i)
    if (a.payload.data()[i] != b.payload.data()[i])
      return "byte " + std::to_string(i) + " of " + std::to_string(a.payload.size()) + " differs";
  return "";
}

/// Returns y + a * decode(p), computed on the processor.
inline std::vector<float> decoded_sum(const compress::packet& p, float a, const std::vector<float>& y) {
  buffer_pool pool;
  vec sum{pool, y};
  sum += a * compress::decode(p);
  return {sum.view().begin(), sum.view().end()};
}

} // namespace gossamer::test
