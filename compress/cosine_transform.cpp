#include "gossamer/compress/cosine_transform.hpp"

#include "gossamer/base/error.hpp"
#include "gossamer/base/work.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace gossamer::compress {

namespace {

/// D_s[k][i], of an angle that is reduced before it is rounded.
float cosine(std::size_t k, std::size_t i, std::size_t size) {
  const auto turn = k * (2 * i + 1) % (4 * size);
  if (turn == size || turn == 3 * size)
    return 0; // exactly: its sign may be a step
  const auto quarters = static_cast<double>(turn) / static_cast<double>(size);
  const double norm = std::sqrt((k == 0 ? 1.0 : 2.0) / static_cast<double>(size));
  return static_cast<float>(norm * std::cos(0.5 * std::numbers::pi * quarters));
}

/// Rows that lie `stride` elements apart.
template <class Float>
struct rows_in_memory {
  Float* first;
  std::size_t stride;

  Float* operator[](std::size_t i) const { return first + i * stride; }
};

/// out = a b, for `count` columns, `columns` at most.
template <std::size_t columns>
void multiply_columns(float* out, const float* a, std::size_t depth, rows_in_memory<const float> b, std::size_t count) {
  std::array<float, columns> sums{};
  for (std::size_t j = 0; j < depth; ++j)
    for (std::size_t c = 0; c < count; ++c)
      sums[c] += a[j] * b[j][c];
  std::copy_n(sums.begin(), count, out);
}

/// out = a b, where a has `rows` rows and b has `depth`.
void multiply(rows_in_memory<float> out, rows_in_memory<const float> a, rows_in_memory<const float> b, std::size_t rows,
              std::size_t depth, std::size_t columns) {
  constexpr std::size_t at_once = 16; // sums in registers
  for (std::size_t i = 0; i < rows; ++i) {
    std::size_t c = 0;
    for (; c + at_once <= columns; c += at_once)
      multiply_columns<at_once>(out[i] + c, a[i], depth, {b.first + c, b.stride}, at_once);
    multiply_columns<at_once>(out[i] + c, a[i], depth, {b.first + c, b.stride}, columns - c);
  }
}

} // namespace

cosine_transform::cosine_transform(std::span<const tensor_shape> tensors, std::size_t edge)
    : tensors_(tensors.begin(), tensors.end()), edge_(edge) {
  GOSSAMER_ASSERT(edge > 0, "blocks have elements");
  std::vector<std::size_t> sizes;
  for (const auto& t : tensors_) {
    size_ += t.size();
    for (const auto side : {t.rows, t.columns})
      sizes.insert(sizes.end(), {std::min(side, edge), side % edge});
  }
  std::ranges::sort(sizes);
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  for (const auto s : sizes) {
    basis d{s, std::vector<float>(s * s), std::vector<float>(s * s)};
    for (std::size_t k = 0; k < s; ++k)
      for (std::size_t i = 0; i < s; ++i)
        d.rows[k * s + i] = d.columns[i * s + k] = cosine(k, i, s);
    bases_.push_back(std::move(d));
  }
}

const cosine_transform::basis& cosine_transform::of(std::size_t size) const {
  return *std::ranges::lower_bound(bases_, size, {}, &basis::size);
}

template <class Action>
void cosine_transform::for_each_block(Action action) const {
  std::vector<float> between(edge_ * edge_);
  std::size_t begin = 0, coefficients = 0;
  for (const auto& t : tensors_) {
    for (std::size_t i = 0; i < t.rows; i += edge_)
      for (std::size_t j = 0; j < t.columns; j += edge_) {
        const block b{&of(std::min(edge_, t.rows - i)), &of(std::min(edge_, t.columns - j)), begin + i * t.columns + j,
                      t.columns, coefficients};
        const auto elements = b.down->size * b.across->size;
        action(b, rows_in_memory<float>{between.data(), b.across->size});
        count_arithmetic(sizeof(float) * elements * (b.down->size + b.across->size));
        coefficients += elements;
      }
    begin += t.size();
  }
}

vec cosine_transform::forward(const vec& v) const {
  GOSSAMER_ASSERT(v.size() == size_, "the tensors are those of the vector");
  auto pool = v.pool();
  vec c{pool, size_};
  const auto* from = v.data();
  auto* to = c.overwrite().data();
  for_each_block([from, to](const block& b, rows_in_memory<float> between) {
    const auto a = b.down->size, width = b.across->size;
    multiply(between, {from + b.at, b.stride}, {b.across->columns.data(), width}, a, width, width);
    multiply({to + b.coefficients, width}, {b.down->rows.data(), a}, {between.first, width}, a, a, width);
  });
  return c;
}

vec cosine_transform::inverse(const vec& c) const {
  GOSSAMER_ASSERT(c.size() == size_, "the tensors are those of the vector");
  auto pool = c.pool();
  vec v{pool, size_};
  const auto* from = c.data();
  auto* to = v.overwrite().data();
  for_each_block([from, to](const block& b, rows_in_memory<float> between) {
    const auto a = b.down->size, width = b.across->size;
    multiply(between, {b.down->columns.data(), a}, {from + b.coefficients, width}, a, a, width);
    multiply({to + b.at, b.stride}, {between.first, width}, {b.across->rows.data(), width}, a, width, width);
  });
  return v;
}

} // namespace gossamer::compress
