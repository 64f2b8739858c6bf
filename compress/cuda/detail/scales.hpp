#pragma once

#include "gossamer/compress/cuda/detail/reductions.hpp"
#include "gossamer/compress/detail/packet_form.hpp"

#include <cmath>

namespace gossamer::compress::cuda {

using detail::scale_rule;

GOSSAMER_HD inline float norm_from(double sum_of_squares) noexcept {
  const double norm = std::sqrt(sum_of_squares), most = static_cast<double>(detail::largest_float);
  return static_cast<float>(norm < most ? norm : most);
}

/// Findings that kernels report to the encoder.
struct findings {
  std::uint32_t not_finite = 0; ///< 1 when there is NaN or infinity
  std::uint32_t not_zero = 0;   ///< 1 when some number of the payload is not 0
};

/// Writes the numbers of each row, one thread a row.
struct write_scales {
  static constexpr const char* name = "write_scales";
  struct shared {};

  scale_rule rule;
  std::uint64_t size, rows;
  const row_ends* ends; ///< empty unless the rule needs them
  const double* sums;   ///< empty unless the rule needs them
  float* numbers;
  findings* found;

  template <class Thread>
  GOSSAMER_KERNEL void operator()(Thread& t) const {
    for (auto r = t.global(); r < rows; r += t.globals())
      if (rule.what == scale_rule::kind::range) {
        const auto range = ends[r].range();
        note(t, is_finite(range.low) && is_finite(range.high), true);
        const auto sent = detail::sendable_range(range, rule.bits);
        numbers[2 * r] = sent.low;
        numbers[2 * r + 1] = sent.high;
      } else {
        const auto range = rule.needs_ends() ? ends[r].range() : detail::value_range{0, 0};
        const double sum = rule.needs_sum() ? sums[r] : 0;
        numbers[r] = number(range, sum);
        note(t, is_finite(range.low) && is_finite(range.high) && sum - sum == 0, numbers[r] != 0);
      }
  }

private:
  GOSSAMER_KERNEL float number(const detail::value_range& range, double sum) const {
    using kind = scale_rule::kind;
    const float largest = -range.low > range.high ? -range.low : range.high;
    switch (rule.what) {
    case kind::uniform:
      return detail::uniform_scale(largest, rule.bits);
    case kind::l2_norm:
      return detail::sendable_norm(norm_from(sum), rule.levels);
    case kind::clipped: {
      const double limit = rule.clip * std::sqrt(sum / static_cast<double>(size));
      const double scale = static_cast<double>(largest) < limit ? static_cast<double>(largest) : limit;
      return detail::sendable_norm(static_cast<float>(scale), rule.levels);
    }
    case kind::plain_norm:
      return norm_from(sum);
    case kind::mean:
      return static_cast<float>(sum / static_cast<double>(size));
    default:
      return detail::sendable_norm(largest, rule.levels);
    }
  }

  template <class Thread>
  GOSSAMER_KERNEL void note(Thread& t, bool finite, bool not_zero) const {
    if (!finite)
      t.raise(&found->not_finite, 1);
    if (not_zero)
      t.raise(&found->not_zero, 1);
  }
};

} // namespace gossamer::compress::cuda
