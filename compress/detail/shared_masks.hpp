#pragma once

#include "gossamer/compress/codec.hpp"

// The masks of `grbs`: what all workers keep that share a random stream.
namespace gossamer::compress::detail {

/// `kept` of `blocks` contiguous blocks, the j-th from floor(j d / blocks) on; the blocks are those that `draw_exactly`
/// draws.
struct block_mask {
  std::size_t blocks, kept;

  /// Elements kept of a vector of d, at most.
  std::size_t most(std::size_t elements) const noexcept;
  /// Requires kept <= blocks <= elements.
  std::vector<selection::range> draw(buffer_pool pool, std::size_t elements, const random_stream& random,
                                     std::uint64_t step) const;
};

/// Of each tensor all or nothing, and of all a band of rows and a band of columns, which wrap around; so each element
/// is kept equally often. A tensor of one row is taken for one of one column.
struct band_mask {
  double row_ratio, column_ratio, layer_ratio;

  struct band {
    std::size_t first, size, of;
  };
  struct bands {
    band rows, columns;

    std::size_t size() const noexcept { return rows.size * columns.size; }
  };

  /// How much is kept of a tensor that is kept at all.
  bands sizes(const tensor_shape& tensor) const noexcept;
  /// Where the bands of each tensor begin, which takes three draws a tensor from the words of the step in their order.
  std::vector<bands> draw(std::span<const tensor_shape> tensors, const random_stream& random, std::uint64_t step) const;
};

/// The elements that lie within the bands.
std::vector<selection::range> ranges_of(std::span<const band_mask::bands> tensors);

} // namespace gossamer::compress::detail
