#pragma once

#include "gossamer/compress/codec.hpp"

// The masks of `grbs`: elements that all workers with the same random stream keep.
namespace gossamer::compress::detail {

/// Keeps `kept` of `blocks` contiguous blocks, as `draw_exactly` draws them. Block j begins at floor(j d / blocks).
struct block_mask {
  std::size_t blocks, kept;

  /// The most elements that are kept of a vector of this size.
  std::size_t most(std::size_t elements) const noexcept;
  /// Requires kept <= blocks <= elements.
  std::vector<selection::range> draw(buffer_pool pool, std::size_t elements, const random_stream& random,
                                     std::uint64_t step) const;
};

/// Keeps each tensor as a whole or not at all. Of a tensor that is kept, a band of rows and a band of columns remain,
/// which wrap around; so each element is kept equally often. A tensor of one row counts as one of one column.
struct band_mask {
  double row_ratio, column_ratio, layer_ratio;

  struct band {
    std::size_t first, size, of;
  };
  struct bands {
    band rows, columns;

    std::size_t size() const noexcept { return rows.size * columns.size; }
  };

  /// Sizes of the bands of a tensor that is kept.
  bands sizes(const tensor_shape& tensor) const noexcept;
  /// Draws the starts of the bands of each tensor: three draws a tensor, from the words of the step in their order.
  std::vector<bands> draw(std::span<const tensor_shape> tensors, const random_stream& random, std::uint64_t step) const;
};

/// The elements that lie within the bands.
std::vector<selection::range> ranges_of(std::span<const band_mask::bands> tensors);

} // namespace gossamer::compress::detail
