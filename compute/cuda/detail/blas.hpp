#pragma once

#include "gossamer/base/cuda/memory.hpp"
#include "gossamer/compute/cuda/detail/products.hpp"

namespace gossamer::compute::cuda {

/// cuBLAS for one stream, in float as IEEE 754 has it (no TF32) and the same bits from run to run.
///
/// NVIDIA promises the same bits on GPUs of one kind with one version of the toolkit, where streams share neither
/// handle nor workspace: each stream has its own here ("Results Reproducibility" in the documentation of cuBLAS).
class blas {
public:
  /// Requires that the stream's GPU is the current one. @error errc::device when cuBLAS refuses
  explicit blas(const gossamer::cuda::stream& s);
  blas(blas&& other) noexcept;
  blas& operator=(blas&&) = delete;
  ~blas();

  /// The product that products.hpp defines.
  void gemm(transposed a, transposed b, int m, int n, int k, const float* a_values, int lda, const float* b_values,
            int ldb, float beta, float* c_values, int ldc) const;

private:
  gossamer::cuda::device_buffer workspace_;
  void* handle_ = nullptr; ///< the cublasHandle_t
};

} // namespace gossamer::compute::cuda
