#include "gossamer/compress/detail/shared_masks.hpp"

#include "gossamer/compress/detail/places.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace gossamer::compress::detail {
namespace {

/// floor(j elements / blocks), without overflow.
std::size_t edge(std::size_t j, std::size_t elements, std::size_t blocks) {
  return j * (elements / blocks) + j * (elements % blocks) / blocks;
}

band_mask::band band_of(std::size_t size, double ratio) {
  const auto rounded = static_cast<std::size_t>(std::floor(static_cast<double>(size) / ratio + 0.5));
  return {0, std::max<std::size_t>(1, rounded), size};
}

/// Returns the band's parts in ascending order: two when it wraps around.
std::array<selection::range, 2> parts(const band_mask::band& b) {
  const auto behind = std::min(b.size, b.of - b.first);
  return {{{0, b.size - behind}, {b.first, behind}}};
}

} // namespace

std::size_t block_mask::most(std::size_t elements) const noexcept {
  return blocks == 0 ? 0 : kept * (elements / blocks) + std::min(kept, elements % blocks);
}

std::vector<selection::range> block_mask::draw(buffer_pool pool, std::size_t elements, const random_stream& random,
                                               std::uint64_t step) const {
  std::vector<selection::range> ranges;
  for (const std::size_t j : draw_exactly(std::move(pool), blocks, kept, random, step)) {
    const auto begin = edge(j, elements, blocks);
    append(ranges, begin, edge(j + 1, elements, blocks) - begin);
  }
  return ranges;
}

band_mask::bands band_mask::sizes(const tensor_shape& tensor) const noexcept {
  if (tensor.rows == 1)
    return {band_of(tensor.columns, row_ratio), {0, 1, 1}};
  return {band_of(tensor.rows, row_ratio), band_of(tensor.columns, column_ratio)};
}

std::vector<band_mask::bands> band_mask::draw(std::span<const tensor_shape> tensors, const random_stream& random,
                                              std::uint64_t step) const {
  std::vector<bands> result;
  random_sequence sequence{random, step};
  for (const auto& tensor : tensors) {
    auto drawn = sizes(tensor);
    const bool keep = sequence.uniform() * layer_ratio < 1;
    drawn.rows.first = draw_up_to(sequence, drawn.rows.of - 1);
    drawn.columns.first = draw_up_to(sequence, drawn.columns.of - 1);
    if (!keep)
      drawn.rows.size = 0;
    result.push_back(drawn);
  }
  return result;
}

std::vector<selection::range> ranges_of(std::span<const band_mask::bands> tensors) {
  std::vector<selection::range> ranges;
  std::size_t begin = 0;
  for (const auto& [rows, columns] : tensors) {
    for (const auto& row_part : parts(rows))
      if (columns.size == columns.of) // whole rows, all at once
        append(ranges, begin + row_part.begin * columns.of, row_part.size * columns.of);
      else
        for (std::size_t row = row_part.begin; row < row_part.begin + row_part.size; ++row)
          for (const auto& part : parts(columns))
            append(ranges, begin + row * columns.of + part.begin, part.size);
    begin += rows.of * columns.of;
  }
  return ranges;
}

} // namespace gossamer::compress::detail
