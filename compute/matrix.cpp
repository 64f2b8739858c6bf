#include "gossamer/compute/matrix.hpp"

#include "gossamer/base/error.hpp"
#include "gossamer/compute/detail/product.hpp"

#include <algorithm>

namespace gossamer::compute {

namespace detail {

named_kernel kernel_of_this_machine(std::size_t i) {
#ifdef __x86_64__
  // GCC knows the levels by name only since 12, and clang later still.
  const bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi")
                  && __builtin_cpu_supports("bmi2");
  const bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw")
                  && __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq")
                  && __builtin_cpu_supports("avx512vl");
  if (v4 && i-- == 0)
    return {"v4", product_v4};
  if (v3 && i-- == 0)
    return {"v3", product_v3};
#endif
  if (i == 0)
    return {"baseline", product_baseline};
  return {nullptr, nullptr};
}

} // namespace detail

namespace {

void run(matrix c, const_matrix a, const_matrix b, bool transpose_a, bool transpose_b, onto mode) {
  static const auto best = detail::kernel_of_this_machine(0).run;
  const auto rows = transpose_a ? a.columns : a.rows, depth = transpose_a ? a.rows : a.columns;
  const auto columns = transpose_b ? b.rows : b.columns, depth_of_b = transpose_b ? b.columns : b.rows;
  GOSSAMER_ASSERT(c.rows == rows && c.columns == columns && depth == depth_of_b, "sizes of a product agree");
  if (mode == onto::overwrite)
    std::ranges::fill(c.values, 0.0f);
  best({c.values.data(), a.values.data(), b.values.data(), rows, columns, depth, transpose_a, transpose_b});
}

} // namespace

void multiply(matrix c, const_matrix a, const_matrix b, onto mode) { run(c, a, b, false, false, mode); }
void multiply_at(matrix c, const_matrix a, const_matrix b, onto mode) { run(c, a, b, true, false, mode); }
void multiply_bt(matrix c, const_matrix a, const_matrix b, onto mode) { run(c, a, b, false, true, mode); }

} // namespace gossamer::compute
