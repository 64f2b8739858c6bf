#pragma once

#include "gossamer/base/cuda/kernel.hpp"

// Reductions over the lanes of a warp. All lanes must call, and all get the result.
namespace gossamer::compute::cuda {

using gossamer::cuda::warp_size;

/// Returns the `join` of the values of all lanes, in an order that is always the same.
template <class Thread, class T, class Join>
GOSSAMER_KERNEL T over_warp(Thread& t, T value, Join join) {
  for (unsigned n = 1; n < warp_size; n *= 2) {
    const T before = t.up(value, n);
    if (t.lane() >= n)
      value = join(before, value);
  }
  return t.from_last(value);
}

template <class Thread, class T>
GOSSAMER_KERNEL T sum_over_warp(Thread& t, T value) {
  return over_warp(t, value, [](T a, T b) { return a + b; });
}

template <class Thread>
GOSSAMER_KERNEL float greatest_over_warp(Thread& t, float value) {
  return over_warp(t, value, [](float a, float b) { return a > b ? a : b; });
}

} // namespace gossamer::compute::cuda
