#pragma once

#include "gossamer/base/philox.hpp"
#include "gossamer/base/tensor_shape.hpp"
#include "gossamer/base/vec.hpp"

#include <span>
#include <vector>

namespace gossamer::compress {

/// The matrices of a model as products of low rank: M ~ P Q^T, where M is a x b, and P and Q have r columns. One step
/// of the power method finds them (Vogels, Karimireddy, Jaggi: PowerSGD, NeurIPS 2019, algorithm 1):
///
///   P = M Q,  P <- an orthonormal basis of its columns,  Q = M^T P
///
/// Both products are linear in M, so that means of P and of Q over workers are those of the mean of their M.
///
/// One vector holds the P, or the Q, of all matrices, column after column. Tensors of which P and Q would have no fewer
/// numbers, r (a + b) >= a b, such as biases, are not compressed: the vector of the P has them at its end as they are.
///
/// Arithmetic is pinned, as in `vec`: the same bits on every machine. All elements are in the memory of the host; those
/// on a GPU are copied. Cost: r multiplications for each element of M in each product. Threads: safe (immutable).
class low_rank {
public:
  /// @param tensors of the vectors m below, in order
  low_rank(std::span<const tensor_shape> tensors, std::size_t rank);

  /// Q with which to begin: independent standard normal numbers.
  vec draw(buffer_pool pool, random_sequence random) const;
  /// P = M Q, and the tensors that are not compressed.
  vec left(const vec& m, const vec& q) const;
  /// Makes the columns of each P orthonormal, in their order (Gram-Schmidt, each column twice). One that depends on
  /// those before it becomes 0.
  void orthonormalise(vec& p) const;
  /// Q = M^T P. Where a column of P is 0, that of Q stays as it was in `q`: it can find what M lacks today.
  vec right(const vec& m, const vec& p, vec q) const;
  /// P Q^T, and the tensors that are not compressed.
  vec product(const vec& p, const vec& q) const;
  /// M - P Q^T, and 0 for the tensors that are not compressed.
  vec remainder(vec m, const vec& p, const vec& q) const;

private:
  /// A tensor, and the places of its first elements. A tensor that is not compressed has a place in P alone.
  struct part {
    tensor_shape shape;
    std::size_t at, in_p, in_q;
  };

  std::span<const float> column(const vec& of, std::size_t place, std::size_t rows, std::size_t k) const {
    return of.view().subspan(place + k * rows, rows);
  }

  std::vector<part> matrices_, whole_;
  std::size_t rank_, size_ = 0, left_size_ = 0, right_size_ = 0;
};

} // namespace gossamer::compress
