// The matrix product behind one instruction set. The including file names its function (GOSSAMER_PRODUCT) and renames
// the namespace Eigen, so that the linker cannot merge a function that was compiled for AVX-512 with one of another
// instruction set or of a user.
#include "gossamer/compute/detail/product.hpp"

#define EIGEN_DONT_PARALLELIZE
#include <Eigen/Core>

namespace gossamer::compute::detail {
namespace {

using index = Eigen::Index;

// Blocks of the left side fit the second-level cache, and a sliver of both the first. Fixed sizes,
// where Eigen would ask the processor, keep the order of summation the same on all machines and the
// workspace on the stack.
constexpr int block_rows = 192;
constexpr int block_columns = 192;
constexpr int block_depth = 256;

constexpr int order(bool transposed) { return transposed ? Eigen::RowMajor : Eigen::ColMajor; }

// Eigen works in columns: it computes c^T = op(b)^T op(a)^T, and row-major memory read by columns is the transpose.
template <bool TransposeA, bool TransposeB>
void blocked(const product& p) {
  const auto rows = static_cast<index>(p.columns);
  const auto columns = static_cast<index>(p.rows);
  const auto depth = static_cast<index>(p.depth);
  Eigen::internal::gemm_blocking_space<Eigen::ColMajor, float, float, block_rows, block_columns, block_depth> blocks(
      rows, columns, depth, 1, false);
  Eigen::internal::general_matrix_matrix_product<index, float, order(TransposeB), false, float, order(TransposeA),
                                                 false, Eigen::ColMajor, 1>::run(rows, columns, depth, p.b,
                                                                                 TransposeB ? depth : rows, p.a,
                                                                                 TransposeA ? columns : depth, p.c, 1,
                                                                                 rows, 1.0f, blocks);
}

/// y += op(m) x, where op(m) is size x depth.
void matrix_times_vector(float* y, const float* m, const float* x, std::size_t size, std::size_t depth,
                         bool transpose) {
  const auto s = static_cast<index>(size);
  const auto d = static_cast<index>(depth);
  Eigen::Map<Eigen::VectorXf> result(y, s);
  const Eigen::Map<const Eigen::VectorXf> factor(x, d);
  if (transpose)
    result.noalias() += Eigen::Map<const Eigen::MatrixXf>(m, s, d) * factor;
  else
    result.noalias() += Eigen::Map<const Eigen::MatrixXf>(m, d, s).transpose() * factor;
}

} // namespace

void GOSSAMER_PRODUCT(const product& p) {
  if (p.rows == 0 || p.columns == 0 || p.depth == 0)
    return;
  if (p.columns == 1)
    matrix_times_vector(p.c, p.a, p.b, p.rows, p.depth, p.transpose_a);
  else if (p.rows == 1)
    matrix_times_vector(p.c, p.b, p.a, p.columns, p.depth, !p.transpose_b);
  else if (p.transpose_a && p.transpose_b)
    blocked<true, true>(p);
  else if (p.transpose_a)
    blocked<true, false>(p);
  else if (p.transpose_b)
    blocked<false, true>(p);
  else
    blocked<false, false>(p);
}

} // namespace gossamer::compute::detail
