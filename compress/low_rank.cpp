#include "gossamer/compress/low_rank.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace gossamer::compress {

namespace {

/// Columns that Gram-Schmidt has made shorter than this part of their length are rounding errors.
constexpr double dependent = 1e-6;

/// The reciprocal of a shorter length need not be a float.
constexpr double shortest = std::numeric_limits<float>::min();

/// sum_i x_i y_i, in an order that does not depend on the machine: 16 partial sums, of the terms with equal i mod 16.
float dot(std::span<const float> x, std::span<const float> y) noexcept {
  std::array<float, 16> sums{};
  std::size_t i = 0;
  for (; i + sums.size() <= x.size(); i += sums.size())
    for (std::size_t j = 0; j < sums.size(); ++j)
      sums[j] += x[i + j] * y[i + j];
  for (std::size_t j = 0; i + j < x.size(); ++j)
    sums[j] += x[i + j] * y[i + j];
  for (std::size_t half = sums.size() / 2; half > 0; half /= 2)
    for (std::size_t j = 0; j < half; ++j)
      sums[j] += sums[j + half];
  return sums[0];
}

double length(std::span<const float> x) { return std::sqrt(sum_of_squares(x)); }

} // namespace

low_rank::low_rank(std::span<const tensor_shape> tensors, std::size_t rank) : rank_(rank) {
  for (const auto& t : tensors) {
    const bool compressed = rank * (t.rows + t.columns) < t.size();
    (compressed ? matrices_ : whole_).push_back({t, size_, 0, 0});
    size_ += t.size();
  }
  for (auto& [shape, at, in_p, in_q] : matrices_) {
    in_p = left_size_, in_q = right_size_;
    left_size_ += rank * shape.rows, right_size_ += rank * shape.columns;
  }
  for (auto& [shape, at, in_p, in_q] : whole_) {
    in_p = left_size_;
    left_size_ += shape.size();
  }
}

vec low_rank::draw(buffer_pool pool, random_sequence random) const {
  vec q{pool, right_size_};
  std::ranges::generate(q.mutate(), [&] { return static_cast<float>(random.normal()); });
  return q;
}

vec low_rank::left(const vec& m, const vec& q) const {
  auto pool = m.pool();
  vec p{pool, left_size_};
  const auto out = p.mutate();
  for (const auto& [shape, at, in_p, in_q] : matrices_)
    for (std::size_t i = 0; i < shape.rows; ++i)
      for (std::size_t k = 0; k < rank_; ++k)
        out[in_p + k * shape.rows + i] =
            dot(m.view().subspan(at + i * shape.columns, shape.columns), column(q, in_q, shape.columns, k));
  for (const auto& [shape, at, in_p, in_q] : whole_)
    std::ranges::copy(m.view().subspan(at, shape.size()), out.begin() + static_cast<std::ptrdiff_t>(in_p));
  return p;
}

void low_rank::orthonormalise(vec& p) const {
  const auto all = p.mutate();
  for (const auto& [shape, at, in_p, in_q] : matrices_) {
    const auto of = [&, rows = shape.rows, begin = in_p](std::size_t k) { return all.subspan(begin + k * rows, rows); };
    for (std::size_t k = 0; k < rank_; ++k) {
      const double before = length(of(k));
      for (int time = 0; time < 2; ++time)
        for (std::size_t l = 0; l < k; ++l)
          add_scaled(of(k), -dot(of(k), of(l)), of(l));
      const double after = length(of(k));
      const bool vanishes = !(after > dependent * before && after >= shortest);
      assign_scaled(of(k), vanishes ? 0 : static_cast<float>(1 / after), of(k));
    }
  }
}

vec low_rank::right(const vec& m, const vec& p, vec q) const {
  const auto out = q.mutate();
  for (const auto& [shape, at, in_p, in_q] : matrices_)
    for (std::size_t k = 0; k < rank_; ++k) {
      const auto basis = column(p, in_p, shape.rows, k);
      const auto result = out.subspan(in_q + k * shape.columns, shape.columns);
      if (max_magnitude(basis) == 0)
        continue;
      std::ranges::fill(result, 0.0f);
      for (std::size_t i = 0; i < shape.rows; ++i)
        add_scaled(result, basis[i], m.view().subspan(at + i * shape.columns, shape.columns));
    }
  return q;
}

vec low_rank::product(const vec& p, const vec& q) const {
  auto pool = p.pool();
  vec m{pool, size_};
  const auto out = m.mutate();
  for (const auto& [shape, at, in_p, in_q] : matrices_)
    for (std::size_t i = 0; i < shape.rows; ++i)
      for (std::size_t k = 0; k < rank_; ++k)
        add_scaled(out.subspan(at + i * shape.columns, shape.columns), p[in_p + k * shape.rows + i],
                   column(q, in_q, shape.columns, k));
  for (const auto& [shape, at, in_p, in_q] : whole_)
    std::ranges::copy(p.view().subspan(in_p, shape.size()), out.begin() + static_cast<std::ptrdiff_t>(at));
  return m;
}

vec low_rank::remainder(vec m, const vec& p, const vec& q) const {
  m -= product(p, q);
  const auto rest = m.mutate();
  for (const auto& [shape, at, in_p, in_q] : whole_)
    std::ranges::fill(rest.subspan(at, shape.size()), 0.0f);
  return m;
}

} // namespace gossamer::compress
