#include "gossamer/base/philox.hpp"
#include "gossamer/compute/detail/product.hpp"
#include "gossamer/compute/matrix.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "support/count_allocations.hpp"

namespace gossamer::compute {
namespace {

struct shape {
  std::size_t rows, columns, depth;
};

// Sizes around the widths of registers (4, 8, 16), of Eigen's tiles (12, 24, 48) and of our blocks (192, 256).
const std::vector<shape> shapes = [] {
  std::vector<shape> all;
  for (std::size_t rows : {0u, 1u, 2u, 5u, 33u})
    for (std::size_t columns : {0u, 1u, 3u, 10u, 17u, 49u})
      for (std::size_t depth : {0u, 1u, 4u, 31u})
        all.push_back({rows, columns, depth});
  all.insert(all.end(), {{193, 194, 5}, {193, 2, 257}, {2, 193, 513}, {49, 33, 257}});
  return all;
}();

std::vector<float> random_values(std::size_t size, std::uint64_t step) {
  random_sequence numbers{random_stream{5, 0, purpose::synthetic}, step};
  std::vector<float> values(size);
  for (float& v : values)
    v = 2 * numbers.uniform() - 1;
  return values;
}

/// Returns element (i, j) of a stored matrix that is read transposed or not.
double element(const std::vector<float>& m, std::size_t i, std::size_t j, std::size_t rows, std::size_t columns,
               bool transposed) {
  return static_cast<double>(transposed ? m[j * rows + i] : m[i * columns + j]);
}

void expect_product(const std::vector<float>& c, const std::vector<float>& before, const detail::product& p,
                    const std::vector<float>& a, const std::vector<float>& b) {
  for (std::size_t i = 0; i < p.rows; ++i)
    for (std::size_t j = 0; j < p.columns; ++j) {
      double sum = static_cast<double>(before[i * p.columns + j]), magnitude = 1;
      for (std::size_t k = 0; k < p.depth; ++k) {
        const double term =
            element(a, i, k, p.rows, p.depth, p.transpose_a) * element(b, k, j, p.depth, p.columns, p.transpose_b);
        sum += term;
        magnitude += std::abs(term);
      }
      ASSERT_NEAR(static_cast<double>(c[i * p.columns + j]), sum, 1e-6 * magnitude)
          << p.rows << "x" << p.columns << "x" << p.depth << " at " << i << ", " << j;
    }
}

TEST(product_kernel, of_every_instruction_set_adds_the_product) {
  for (std::size_t which = 0;; ++which) {
    const auto kernel = detail::kernel_of_this_machine(which);
    if (!kernel.run) {
      EXPECT_GE(which, 1u);
      return;
    }
    SCOPED_TRACE(kernel.name);
    for (const auto& [rows, columns, depth] : shapes)
      for (bool transpose_a : {false, true})
        for (bool transpose_b : {false, true}) {
          const auto a = random_values(rows * depth, 1), b = random_values(depth * columns, 2);
          const auto before = random_values(rows * columns, 3);
          auto c = before;
          const detail::product p{c.data(), a.data(), b.data(), rows, columns, depth, transpose_a, transpose_b};
          kernel.run(p);
          expect_product(c, before, p, a, b);
        }
  }
}

TEST(multiply, reads_its_operands_as_named) {
  const std::vector<float> square{1, 2, 3, 4}; // rows (1 2), (3 4)
  const std::vector<float> other{5, 6, 7, 8};
  const const_matrix a{square, 2, 2}, b{other, 2, 2};
  std::vector<float> values{100, 100, 100, 100};
  const matrix c{values, 2, 2};
  multiply(c, a, b);
  EXPECT_EQ(values, (std::vector<float>{19, 22, 43, 50}));
  multiply(c, a, b, onto::add);
  EXPECT_EQ(values, (std::vector<float>{38, 44, 86, 100}));
  multiply_at(c, a, b);
  EXPECT_EQ(values, (std::vector<float>{26, 30, 38, 44}));
  multiply_bt(c, a, b);
  EXPECT_EQ(values, (std::vector<float>{17, 23, 39, 53}));
}

TEST(multiply, without_depth_leaves_zeros_or_the_old_values) {
  std::vector<float> values{1, 2};
  const matrix c{values, 1, 2};
  multiply(c, {{}, 1, 0}, {{}, 0, 2}, onto::add);
  EXPECT_EQ(values, (std::vector<float>{1, 2}));
  multiply(c, {{}, 1, 0}, {{}, 0, 2});
  EXPECT_EQ(values, (std::vector<float>{0, 0}));
}

TEST(multiply, repeats_itself_bit_for_bit_and_allocates_nothing) {
  for (const auto& [rows, columns, depth] : shapes) {
    const auto a = random_values(rows * depth, 1), b = random_values(depth * columns, 2);
    std::vector<float> first(rows * columns), second(rows * columns);
    const auto before = support::allocations();
    multiply({first, rows, columns}, {a, rows, depth}, {b, depth, columns});
    multiply({second, rows, columns}, {a, rows, depth}, {b, depth, columns});
    EXPECT_EQ(support::allocations(), before) << rows << "x" << columns << "x" << depth;
    EXPECT_EQ(first, second);
  }
}

TEST(allocations, are_counted) {
  const auto before = support::allocations();
  const std::vector<int> v(10);
  EXPECT_GT(support::allocations(), before);
}

} // namespace
} // namespace gossamer::compute
