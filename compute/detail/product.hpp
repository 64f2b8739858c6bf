#pragma once

#include <cstddef>

namespace gossamer::compute::detail {

/// c += op(a) op(b), where c is rows x columns, and op(a) is rows x depth. Plain C types only: the files that implement
/// it are compiled for processors that the machine may not have, so they must not share inline functions with other
/// files.
struct product {
  float* c;
  const float* a;
  const float* b;
  std::size_t rows;
  std::size_t columns;
  std::size_t depth;
  bool transpose_a;
  bool transpose_b;
};

using product_kernel = void (*)(const product&);

void product_baseline(const product& p);
#ifdef __x86_64__
void product_v3(const product& p); ///< AVX2 and FMA
void product_v4(const product& p); ///< AVX-512
#endif

/// A kernel that this machine can run.
struct named_kernel {
  const char* name;
  product_kernel run;
};

/// The i-th best kernel of this machine; `run` is null when there are no more.
named_kernel kernel_of_this_machine(std::size_t i);

} // namespace gossamer::compute::detail
