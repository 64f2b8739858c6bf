#include "gossamer/compress/cosine_transform.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "support/codecs.hpp"

namespace gossamer::compress {
namespace {

/// The definition, in double precision: each coefficient is a sum over the whole block.
double coefficient(const vec& v, std::size_t first, std::size_t stride, std::size_t a, std::size_t b, std::size_t k,
                   std::size_t l) {
  const auto wave = [](std::size_t of, std::size_t at, std::size_t size) {
    const auto s = static_cast<double>(size);
    return std::sqrt((of == 0 ? 1 : 2) / s)
           * std::cos(std::numbers::pi * static_cast<double>(of * (2 * at + 1)) / (2 * s));
  };
  double sum = 0;
  for (std::size_t i = 0; i < a; ++i)
    for (std::size_t j = 0; j < b; ++j)
      sum += wave(k, i, a) * static_cast<double>(v[first + i * stride + j]) * wave(l, j, b);
  return sum;
}

TEST(cosine_transform, of_one_wave_is_0_where_the_wave_is) {
  buffer_pool pool;
  const tensor_shape row{1, 10};
  std::vector<float> coefficients(10);
  coefficients[2] = 1;
  const vec wave = cosine_transform{{&row, 1}, 64}.inverse(vec{pool, coefficients});
  for (std::size_t i = 0; i < 10; ++i)
    EXPECT_EQ(wave[i] == 0, i == 2 || i == 7) << i << ": " << wave[i];
}

TEST(cosine_transform, is_that_of_its_definition_in_each_block) {
  buffer_pool pool;
  constexpr std::size_t edge = 8;
  for (const auto& [rows, columns] : {std::pair<std::size_t, std::size_t>{1, 1}, {1, 21}, {8, 8}, {5, 3}, {19, 30}}) {
    const tensor_shape shape{rows, columns};
    const vec v = test::random_vector(pool, rows * columns);
    const vec c = cosine_transform{{&shape, 1}, edge}.forward(v);
    std::size_t next = 0;
    for (std::size_t i = 0; i < rows; i += edge)
      for (std::size_t j = 0; j < columns; j += edge) {
        const auto a = std::min(edge, rows - i), b = std::min(edge, columns - j);
        for (std::size_t k = 0; k < a; ++k)
          for (std::size_t l = 0; l < b; ++l)
            ASSERT_NEAR(static_cast<double>(c[next++]), coefficient(v, i * columns + j, columns, a, b, k, l), 2e-6)
                << rows << " x " << columns << ", block at " << i << ", " << j << ", coefficient " << k << ", " << l;
      }
    EXPECT_EQ(next, v.size());
  }
}

TEST(cosine_transform, is_orthonormal) {
  buffer_pool pool;
  for (const std::size_t size : {1u, 2u, 3u, 16u, 31u, 64u, 100u, 128u}) {
    const tensor_shape row{1, size};
    const cosine_transform of_row{{&row, 1}, size};
    std::vector<vec> rows;
    for (std::size_t i = 0; i < size; ++i) {
      vec unit{pool, size};
      unit.mutate()[i] = 1;
      rows.push_back(of_row.forward(unit));
    }
    for (std::size_t i = 0; i < size; ++i)
      for (std::size_t j = 0; j <= i; ++j) {
        double product = 0;
        for (std::size_t k = 0; k < size; ++k)
          product += static_cast<double>(rows[i][k]) * static_cast<double>(rows[j][k]);
        ASSERT_NEAR(product, i == j ? 1 : 0, 1e-6) << size << ": " << i << ", " << j;
      }
  }
}

TEST(cosine_transform, has_an_inverse_and_keeps_lengths) {
  buffer_pool pool;
  const std::vector<tensor_shape> tensors{{70, 100}, {1, 100}, {100, 10}, {1, 10}};
  const vec v = test::random_vector(pool, 70 * 100 + 100 + 1000 + 10);
  for (const std::size_t edge : {1u, 7u, 32u, 64u, 128u}) {
    const cosine_transform t{tensors, edge};
    const vec c = t.forward(v), back = t.inverse(c);
    EXPECT_LT(squared_distance(back.view(), v.view()), 1e-12 * sum_of_squares(v.view())) << edge;
    EXPECT_NEAR(sum_of_squares(c.view()), sum_of_squares(v.view()), 1e-6 * sum_of_squares(v.view())) << edge;
  }
  EXPECT_EQ((cosine_transform{tensors, 1}.forward(v)), v) << "blocks of one element";
}

TEST(cosine_transform, finds_a_wave_in_one_coefficient) {
  buffer_pool pool;
  constexpr std::size_t size = 32;
  const tensor_shape square{size, size};
  const cosine_transform t{{&square, 1}, size};
  vec unit{pool, size * size};
  unit.mutate()[3 * size + 5] = 2;
  const vec wave = t.inverse(unit), found = t.forward(wave);
  EXPECT_LT(squared_distance(found.view(), unit.view()), 1e-12);
  EXPECT_LT(max_magnitude(wave.view()), 0.2f) << "spread over the block";
  const vec constant{pool, std::vector<float>(size * size, 0.5f)};
  const vec flat = t.forward(constant);
  EXPECT_NEAR(static_cast<double>(flat[0]), 0.5 * size, 1e-5);
  EXPECT_LT(max_magnitude(flat.view().subspan(1)), 1e-5f);
}

} // namespace
} // namespace gossamer::compress
