#pragma once

#include <cstddef>

namespace gossamer {

/// One of the tensors that a flat vector consists of, one after the other: rows x columns, row-major. A bias is one
/// row.
struct tensor_shape {
  std::size_t rows = 1, columns = 1;

  std::size_t size() const noexcept { return rows * columns; }
};

} // namespace gossamer
