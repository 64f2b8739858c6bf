#pragma once

#include "gossamer/base/cuda/kernel.hpp"

namespace gossamer::compute::cuda {

using gossamer::cuda::warp_size;

/// The elements of a matrix, dealt out to warps in pieces of rows, so that the row is found once a piece instead of by
/// a division for each element.
struct over_elements {
  static constexpr std::uint64_t piece = 256;

  std::uint64_t rows, columns;

  constexpr std::uint64_t pieces_a_row() const noexcept { return (columns + piece - 1) / piece; }
  constexpr std::uint64_t pieces() const noexcept { return rows * pieces_a_row(); }

  /// Calls action(row, column) for each element once.
  template <class Thread, class Action>
  GOSSAMER_KERNEL void run(Thread& t, Action action) const {
    const auto each = pieces_a_row();
    for (auto p = t.warp(); p < rows * each; p += t.warps()) {
      const auto row = p / each, begin = p % each * piece, end = begin + piece < columns ? begin + piece : columns;
      for (auto column = begin + t.lane(); column < end; column += warp_size)
        action(row, column);
    }
  }
};

} // namespace gossamer::compute::cuda
