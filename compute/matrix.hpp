#pragma once

#include <cstddef>
#include <span>

namespace gossamer::compute {

/// A row-major matrix in borrowed memory; `values` holds rows * columns elements.
template <class Float>
struct matrix_view {
  std::span<Float> values;
  std::size_t rows;
  std::size_t columns;

  std::span<Float> row(std::size_t i) const { return values.subspan(i * columns, columns); }
  operator matrix_view<const Float>() const { return {values, rows, columns}; }
};

using matrix = matrix_view<float>;
using const_matrix = matrix_view<const float>;

/// The fate of the old values of a result.
enum class onto { overwrite, add };

/// c = a b, or c += a b. The three products differ in which operand is read transposed; the memory
/// is row-major always. Sizes must agree and may be 0; c must not overlap a or b.
///
/// Runs on the calling thread with the widest vectors that the machine has (chosen at run time), in
/// a fixed order: the same bits from run to run on machines of one kind, but not across kinds
/// (fused multiply-add, vector width). Cost: 2 * rows * columns * depth operations, no heap memory,
/// 0.4 MiB of stack. Threads: safe.
void multiply(matrix c, const_matrix a, const_matrix b, onto mode = onto::overwrite);
void multiply_at(matrix c, const_matrix a, const_matrix b,
                 onto mode = onto::overwrite); ///< c = a^T b
void multiply_bt(matrix c, const_matrix a, const_matrix b,
                 onto mode = onto::overwrite); ///< c = a b^T

} // namespace gossamer::compute
