#pragma once

#include "gossamer/compute/matrix.hpp"

// The products of compute/matrix.hpp, of row-major matrices in the memory of a GPU, by an engine's `gemm`:
//
//     gemm(transposed a, transposed b, m, n, k, a, lda, b, ldb, beta, c, ldc)
//
// is the one of BLAS with alpha = 1, which takes matrices column by column. Read by columns, a row-major matrix is its
// own transpose. Hence every product here is written as the product of the transposes in reverse order. c is not read
// when beta is 0.
namespace gossamer::compute::cuda {

enum class transposed : bool { no, yes };

/// c = op(a) op(b), or c += op(a) op(b).
template <class Engine>
void multiply(Engine& e, matrix c, const_matrix a, transposed turn_a, const_matrix b, transposed turn_b, onto mode) {
  const auto narrow = [](std::size_t size) { return static_cast<int>(size); };
  const auto stride = [](const_matrix m) { return static_cast<int>(m.columns > 0 ? m.columns : 1); }; // BLAS insists
  const auto depth = turn_a == transposed::yes ? a.rows : a.columns;
  e.gemm(turn_b, turn_a, narrow(c.columns), narrow(c.rows), narrow(depth), b.values.data(), stride(b), a.values.data(),
         stride(a), mode == onto::add ? 1.0f : 0.0f, c.values.data(), stride(c));
}

/// c = a b
template <class Engine>
void multiply(Engine& e, matrix c, const_matrix a, const_matrix b, onto mode = onto::overwrite) {
  multiply(e, c, a, transposed::no, b, transposed::no, mode);
}
/// c = a^T b
template <class Engine>
void multiply_at(Engine& e, matrix c, const_matrix a, const_matrix b, onto mode = onto::overwrite) {
  multiply(e, c, a, transposed::yes, b, transposed::no, mode);
}
/// c = a b^T
template <class Engine>
void multiply_bt(Engine& e, matrix c, const_matrix a, const_matrix b, onto mode = onto::overwrite) {
  multiply(e, c, a, transposed::no, b, transposed::yes, mode);
}

} // namespace gossamer::compute::cuda
