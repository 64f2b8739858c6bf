#pragma once

#include "gossamer/base/host_device.hpp"
#include "gossamer/compute/mapped_allocator.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace gossamer::compute {

/// The value of a byte: (byte / divisor - mean) / deviation, where each operation is rounded to a float.
struct byte_scale {
  float divisor = 1, mean = 0, deviation = 1;

  GOSSAMER_HD float operator()(std::uint8_t byte) const {
    return (static_cast<float>(byte) / divisor - mean) / deviation;
  }
};

/// Dense features that are kept as bytes: a quarter of the memory of floats. Nobody changes the bytes, so that copies
/// share them.
struct byte_features {
  std::span<const std::uint8_t> all = {};      ///< row-major samples x features
  std::shared_ptr<const void> owner = nullptr; ///< keeps them
  std::vector<byte_scale> scales =
      std::vector<byte_scale>(1); ///< of the equal parts of a sample, e.g. the channels of a picture
  bool mapped = false;            ///< whether they lie in a file that is mapped

  bool empty() const noexcept { return all.empty(); }
  /// Writes the values of the sample whose features begin at `first`.
  void copy_sample(std::size_t first, std::span<float> out) const;
};

/// Takes the bytes of a vector.
byte_features features_in(large_vector<std::uint8_t> bytes);

/// out_k = scale(bytes_k) for as many as there are bytes, with SIMD chosen at run time: the same bits on every machine.
void scale_bytes(std::span<const std::uint8_t> bytes, const byte_scale& scale, std::span<float> out);

} // namespace gossamer::compute
