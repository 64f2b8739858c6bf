#include "gossamer/compute/cuda/detail/blas.hpp"

#include "gossamer/base/error.hpp"

#include <fmt/format.h>

#include <cublas_v2.h>

namespace gossamer::compute::cuda {

namespace {

constexpr std::size_t workspace_bytes = std::size_t{32} << 20; // NVIDIA's advice for Hopper; older GPUs need less

void check(cublasStatus_t status, std::string_view doing) {
  if (status != CUBLAS_STATUS_SUCCESS)
    throw error(errc::device, fmt::format("cuBLAS failed while {}: {}", doing, cublasGetStatusString(status)),
                "see whether the GPU has memory left (nvidia-smi), and whether driver and toolkit fit");
}

cublasHandle_t native(void* handle) { return static_cast<cublasHandle_t>(handle); }
cublasOperation_t operation(transposed t) { return t == transposed::yes ? CUBLAS_OP_T : CUBLAS_OP_N; }

} // namespace

blas::blas(const gossamer::cuda::stream& s) : workspace_(s, workspace_bytes) {
  s.make_present();
  cublasHandle_t made = nullptr;
  check(cublasCreate(&made), "being started");
  handle_ = made;
  try {
    check(cublasSetStream(made, static_cast<cudaStream_t>(s.native())), "being given its stream");
    // After the stream, which would take the workspace away again.
    check(cublasSetWorkspace(made, workspace_.data(), workspace_bytes), "being given its workspace");
    check(cublasSetMathMode(made, CUBLAS_PEDANTIC_MATH), "choosing arithmetic");
    check(cublasSetAtomicsMode(made, CUBLAS_ATOMICS_NOT_ALLOWED), "forgoing atomics");
  } catch (...) {
    cublasDestroy(made);
    throw;
  }
}

blas::blas(blas&& other) noexcept
    : workspace_(std::move(other.workspace_)), handle_(std::exchange(other.handle_, nullptr)) {}

blas::~blas() {
  if (handle_ != nullptr)
    cublasDestroy(native(handle_));
}

void blas::gemm(transposed a, transposed b, int m, int n, int k, const float* a_values, int lda, const float* b_values,
                int ldb, float beta, float* c_values, int ldc) const {
  const float one = 1;
  check(cublasSgemm(native(handle_), operation(a), operation(b), m, n, k, &one, a_values, lda, b_values, ldb, &beta,
                    c_values, ldc),
        fmt::format("multiplying {} x {} by {} x {}", m, k, k, n));
}

} // namespace gossamer::compute::cuda
