#pragma once

#include "gossamer/compute/cuda/detail/products.hpp"

#include "support/host_queue.hpp"

namespace gossamer::test {

/// The engine of compute/cuda/detail/device_network.hpp on the processor.
class host_engine : public host_queue {
public:
  using queue = host_queue;
  using host_queue::host_queue;

  host_engine another() const {
    auto result = *this;
    result.become_another();
    return result;
  }
  std::shared_ptr<host_queue> beside() const { return std::make_shared<host_queue>(another()); }

  /// Computes cublasSgemm by its documentation, with alpha = 1: c = op(a) op(b) + beta c, all column by column.
  void gemm(compute::cuda::transposed ta, compute::cuda::transposed tb, int m, int n, int k, const float* a, int lda,
            const float* b, int ldb, float beta, float* c, int ldc) const {
    submit([=] { multiply(ta, tb, m, n, k, a, lda, b, ldb, beta, c, ldc); });
  }

private:
  static void multiply(compute::cuda::transposed ta, compute::cuda::transposed tb, int m, int n, int k, const float* a,
                       int lda, const float* b, int ldb, float beta, float* c, int ldc) {
    const bool a_turned = ta == compute::cuda::transposed::yes, b_turned = tb == compute::cuda::transposed::yes;
    EXPECT_TRUE(m >= 0 && n >= 0 && k >= 0) << "cuBLAS would refuse these sizes";
    EXPECT_GE(lda, std::max(1, a_turned ? k : m));
    EXPECT_GE(ldb, std::max(1, b_turned ? n : k));
    EXPECT_GE(ldc, std::max(1, m));
    const auto at = [](const float* matrix, int stride, bool turned, int row, int column) {
      return turned ? matrix[std::ptrdiff_t{row} * stride + column] : matrix[std::ptrdiff_t{column} * stride + row];
    };
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < m; ++i) {
        float sum = 0;
        for (int l = 0; l < k; ++l)
          sum += at(a, lda, a_turned, i, l) * at(b, ldb, b_turned, l, j);
        float& result = c[std::ptrdiff_t{j} * ldc + i];
        result = beta == 0 ? sum : sum + beta * result;
      }
  }
};

} // namespace gossamer::test
