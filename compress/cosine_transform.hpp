#pragma once

#include "gossamer/base/tensor_shape.hpp"
#include "gossamer/base/vec.hpp"

#include <span>
#include <vector>

namespace gossamer::compress {

/// The orthonormal cosine transform (DCT-II) of the tensors of a model, block by block:
///
///   C = D_a V D_b^T,   V = D_a^T C D_b,   D_s[k][i] = sqrt((k = 0 ? 1 : 2) / s) cos(pi k (2 i + 1) / (2 s))
///
/// V is a block of a matrix, a x b, of at most `edge` x `edge` elements; those at the lower and the right border have
/// what is left. A tensor of one row is cut into pieces of `edge` elements. Coefficients come block by block, those of
/// a band of rows from left to right, each row-major.
///
/// Both directions are linear, and lengths stay. Arithmetic is pinned, as in `vec`: products are added in the order of
/// their terms, from 0 on. All elements are in the memory of the host; those on a GPU are copied. Cost: a + b
/// multiplications for each element of a block. Threads: safe (immutable).
class cosine_transform {
public:
  /// @param tensors of the vectors below, in order
  /// @param edge at least 1
  cosine_transform(std::span<const tensor_shape> tensors, std::size_t edge);

  /// The coefficients of a vector.
  vec forward(const vec& v) const;
  /// The vector that has these coefficients.
  vec inverse(const vec& c) const;

private:
  /// D_s and its transpose, row-major.
  struct basis {
    std::size_t size;
    std::vector<float> rows, columns;
  };
  /// A block: its first element in the vector, the distance of its rows there, and its first coefficient.
  struct block {
    const basis *down, *across;
    std::size_t at, stride, coefficients;
  };

  const basis& of(std::size_t size) const;
  template <class Action>
  void for_each_block(Action action) const;

  std::vector<tensor_shape> tensors_;
  std::vector<basis> bases_;
  std::size_t edge_, size_ = 0;
};

} // namespace gossamer::compress
