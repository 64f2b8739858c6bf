#pragma once

#include "gossamer/base/cuda/stream.hpp"
#include "gossamer/base/philox.hpp"

#include <cstdint>
#include <span>

// Marsit's merge of signs in the memory of a GPU; the same bits as compress/sign_bits.hpp, which has the maths and the
// reference. All functions return before the GPU is done.
namespace gossamer::compress::cuda {

/// Packs the signs of v, without a check that v is finite. @error errc::device when the GPU fails
void pack_signs(const gossamer::cuda::stream& s, std::span<const float> v, std::span<std::uint64_t> words);

void draw_transient(const gossamer::cuda::stream& s, std::span<const std::uint64_t> local, std::uint32_t a,
                    std::uint32_t b, std::size_t elements, const random_stream& random, std::uint64_t step,
                    std::uint64_t first, std::span<std::uint64_t> out);

void merge_signs(const gossamer::cuda::stream& s, std::span<const std::uint64_t> received,
                 std::span<const std::uint64_t> local, std::span<const std::uint64_t> transient,
                 std::span<std::uint64_t> out);

/// values_i += magnitude where the bit is 1, else values_i -= magnitude.
void add_signs(const gossamer::cuda::stream& s, std::span<const std::uint64_t> words, float magnitude,
               std::span<float> values);

} // namespace gossamer::compress::cuda
