#include "gossamer/compress/low_rank.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace gossamer::compress {
namespace {

constexpr std::size_t rows = 20, columns = 33, bias = 5;
const std::vector<tensor_shape> tensors{{rows, columns}, {1, bias}};

class low_rank_of_two : public ::testing::Test {
protected:
  random_sequence numbers(std::uint64_t step) const { return {random_stream{7, 0, purpose::synthetic}, step}; }
  /// A matrix of this rank, and a bias.
  vec matrix(std::size_t rank, std::uint64_t step) {
    auto draw = numbers(step);
    vec m{pool, rows * columns + bias};
    const auto out = m.mutate();
    for (std::size_t k = 0; k < rank; ++k) {
      std::vector<float> u(rows), v(columns);
      std::ranges::generate(u, [&] { return static_cast<float>(draw.normal()); });
      std::ranges::generate(v, [&] { return static_cast<float>(draw.normal()); });
      for (std::size_t i = 0; i < rows; ++i)
        add_scaled(out.subspan(i * columns, columns), u[i], v);
    }
    for (std::size_t i = 0; i < bias; ++i)
      out[rows * columns + i] = static_cast<float>(i);
    return m;
  }
  /// One step of the power method.
  vec approximation(const vec& m, vec q) const {
    vec p = factors.left(m, q);
    factors.orthonormalise(p);
    return factors.product(p, factors.right(m, p, std::move(q)));
  }

  buffer_pool pool;
  low_rank factors{tensors, 2};
  vec first = factors.draw(pool, numbers(0));
};

TEST_F(low_rank_of_two, finds_matrices_of_its_rank_in_one_step) {
  for (const std::size_t rank : {1u, 2u}) {
    const vec m = matrix(rank, rank);
    EXPECT_LT(squared_distance(approximation(m, first).view(), m.view()), 1e-9 * sum_of_squares(m.view())) << rank;
  }
}

TEST_F(low_rank_of_two, comes_near_to_others_step_by_step) {
  const vec m = matrix(6, 9);
  vec q = first;
  std::vector<double> errors;
  for (int step = 0; step < 12; ++step) {
    vec p = factors.left(m, q);
    factors.orthonormalise(p);
    q = factors.right(m, p, q);
    errors.push_back(sum_of_squares(factors.remainder(m, p, q).view()) / sum_of_squares(m.view()));
  }
  EXPECT_LT(errors.back(), 0.95 * errors.front());
  EXPECT_GT(errors.back(), 0.01) << "the matrix has a rank of 6";
  for (std::size_t k = 1; k < errors.size(); ++k)
    EXPECT_LT(errors[k], errors[k - 1] + 1e-6) << k;
}

TEST_F(low_rank_of_two, makes_orthonormal_columns) {
  vec p = factors.left(matrix(5, 3), first);
  factors.orthonormalise(p);
  const auto column = [&](std::size_t k) { return p.view().subspan(k * rows, rows); };
  EXPECT_NEAR(sum_of_squares(column(0)), 1, 1e-6);
  EXPECT_NEAR(sum_of_squares(column(1)), 1, 1e-6);
  double product = 0;
  for (std::size_t i = 0; i < rows; ++i)
    product += static_cast<double>(column(0)[i]) * static_cast<double>(column(1)[i]);
  EXPECT_NEAR(product, 0, 1e-6);
}

TEST_F(low_rank_of_two, splits_a_matrix_without_loss) {
  const vec m = matrix(6, 4);
  vec p = factors.left(m, first);
  factors.orthonormalise(p);
  const vec q = factors.right(m, p, first);
  const vec whole = factors.product(p, q) + factors.remainder(m, p, q);
  EXPECT_LT(squared_distance(whole.view(), m.view()), 1e-10 * sum_of_squares(m.view()));
}

// With Q = 0 the power method would stand still for ever.
TEST_F(low_rank_of_two, goes_on_after_a_matrix_of_zeros) {
  const vec nothing{pool, rows * columns + bias};
  vec p = factors.left(nothing, first);
  factors.orthonormalise(p);
  const vec q = factors.right(nothing, p, first);
  EXPECT_EQ(sum_of_squares(factors.product(p, q).view()), 0);
  const vec m = matrix(2, 5);
  EXPECT_LT(squared_distance(approximation(m, q).view(), m.view()), 1e-9 * sum_of_squares(m.view()));
}

// Gradients of a model that fits its data as well as floats can tell are as small.
TEST_F(low_rank_of_two, takes_what_is_too_small_to_divide_by_for_zeros) {
  for (const float scale : {1e-41f, 1e-39f, 1e-37f}) {
    const vec m = scale * matrix(2, 5);
    vec p = factors.left(m, first);
    factors.orthonormalise(p);
    const vec q = factors.right(m, p, first);
    const vec rest = factors.remainder(m, p, q);
    EXPECT_TRUE(std::isfinite(sum_of_squares(p.view()))) << scale;
    EXPECT_TRUE(std::isfinite(sum_of_squares(rest.view()))) << scale;
  }
}

TEST_F(low_rank_of_two, leaves_what_would_not_be_smaller) {
  EXPECT_EQ(factors.left(matrix(1, 1), first).size(), 2 * rows + bias);
  EXPECT_EQ(first.size(), 2 * columns);
  const low_rank all{tensors, 15}; // 15 (20 + 33) > 20 * 33
  const vec m = matrix(6, 6), q = all.draw(pool, numbers(0));
  vec p = all.left(m, q);
  all.orthonormalise(p);
  EXPECT_EQ(q.size(), 0u);
  EXPECT_EQ(all.product(p, all.right(m, p, q)), m);
  EXPECT_EQ(sum_of_squares(all.remainder(m, p, q).view()), 0);
}

} // namespace
} // namespace gossamer::compress
