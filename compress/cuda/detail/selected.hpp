#pragma once

#include "gossamer/compress/cuda/detail/reductions.hpp"
#include "gossamer/compress/cuda/detail/scales.hpp"

// Some of the elements as they are or times a factor: ranges that all workers draw alike.
namespace gossamer::compress::cuda {

/// Consecutive elements of the vector that are consecutive values of the payload; it ends where the next begins.
struct copied_range {
  std::uint64_t element, value;
};

/// The elements that values belong to, asked for in order.
class range_walk {
public:
  /// @param first value to be asked for
  GOSSAMER_KERNEL range_walk(const copied_range* ranges, std::uint64_t count, std::uint64_t first) : count_(count) {
    ranges_ = ranges;
    std::uint64_t low = 0, high = count; // the last range that begins at or before it
    while (high - low > 1) {
      const auto middle = (low + high) / 2;
      (ranges[middle].value <= first ? low : high) = middle;
    }
    at_ = low;
  }

  GOSSAMER_KERNEL std::uint64_t element(std::uint64_t value) {
    while (at_ + 1 < count_ && ranges_[at_ + 1].value <= value)
      ++at_;
    return ranges_[at_].element + (value - ranges_[at_].value);
  }

private:
  const copied_range* ranges_;
  std::uint64_t count_, at_;
};

/// values = factor * what is kept of v, or the nearest finite float.
struct gather_ranges {
  static constexpr const char* name = "gather_ranges";
  struct shared {};

  const float* v;
  const copied_range* ranges;
  std::uint64_t count, size; ///< of ranges and of values
  float factor;
  float* values;
  findings* found;

  template <class Thread>
  GOSSAMER_KERNEL void operator()(Thread& t) const {
    constexpr float most = detail::largest_float;
    bool finite = true;
    for (auto first = 4 * t.global(); first < size; first += 4 * t.globals()) {
      range_walk walk{ranges, count, first};
      four<float> x{};
      for (unsigned j = 0; j < 4 && first + j < size; ++j) {
        const float kept = v[walk.element(first + j)], scaled = factor * kept;
        finite = finite && is_finite(kept);
        x.x[j] = scaled < -most ? -most : (scaled > most ? most : scaled);
      }
      store_four(values, first, size, x);
    }
    if (!finite)
      t.raise(&found->not_finite, 1);
  }
};

/// y += factor * values at the elements that they belong to.
struct add_ranges {
  static constexpr const char* name = "add_ranges";
  struct shared {};

  const float* values;
  const copied_range* ranges;
  std::uint64_t count, size;
  float factor;
  float* y;

  template <class Thread>
  GOSSAMER_KERNEL void operator()(Thread& t) const {
    for (auto first = 4 * t.global(); first < size; first += 4 * t.globals()) {
      range_walk walk{ranges, count, first};
      const auto x = load_four(values, first, size);
      for (unsigned j = 0; j < 4 && first + j < size; ++j)
        y[walk.element(first + j)] += factor * x.x[j];
    }
  }
};

} // namespace gossamer::compress::cuda
