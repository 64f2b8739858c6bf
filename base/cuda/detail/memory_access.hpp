#pragma once

#include "gossamer/base/cuda/kernel.hpp"

#include <cstddef>
#include <cstdint>

// Access to 16 bytes at once, in memory that may begin and end at any address.
namespace gossamer::cuda {

template <class T>
struct alignas(4 * sizeof(T) > 16 ? 16 : 4 * sizeof(T)) four {
  T x[4];
};

GOSSAMER_KERNEL inline bool aligned(const void* p) { return reinterpret_cast<std::uintptr_t>(p) % 16 == 0; }

/// True if elements begin .. begin + count - 1 all exist and can be taken 16 bytes at once.
GOSSAMER_KERNEL inline bool whole_tile(const void* from, std::uint64_t begin, std::uint64_t count, std::uint64_t size) {
  return begin + count <= size && aligned(from);
}

/// Elements i .. i + 3 of `size`, and 0 behind the last. Requires a multiple of 4.
/// @param whole true if they lie in a `whole_tile`: loads then have no branches and do not wait for each other
template <bool whole = false, class T>
GOSSAMER_KERNEL four<T> load_four(const T* from, std::uint64_t i, std::uint64_t size) {
  if constexpr (whole) {
    return *reinterpret_cast<const four<T>*>(from + i);
  } else {
    four<T> result{};
    if (whole_tile(from, i, 4, size))
      result = *reinterpret_cast<const four<T>*>(from + i);
    else
      for (unsigned j = 0; j < 4 && i + j < size; ++j)
        result.x[j] = from[i + j];
    return result;
  }
}

template <bool whole = false, class T>
GOSSAMER_KERNEL void store_four(T* to, std::uint64_t i, std::uint64_t size, const four<T>& values) {
  if constexpr (whole) {
    *reinterpret_cast<four<T>*>(to + i) = values;
  } else if (whole_tile(to, i, 4, size)) {
    *reinterpret_cast<four<T>*>(to + i) = values;
  } else {
    for (unsigned j = 0; j < 4 && i + j < size; ++j)
      to[i + j] = values.x[j];
  }
}

/// y_i += factor * x_i, a product and a sum.
GOSSAMER_KERNEL inline void add_four(float* y, std::uint64_t i, std::uint64_t size, float factor,
                                     const four<float>& x) {
  auto sum = load_four(y, i, size);
  for (unsigned j = 0; j < 4; ++j)
    sum.x[j] += factor * x.x[j];
  store_four(y, i, size, sum);
}

} // namespace gossamer::cuda
