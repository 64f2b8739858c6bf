#pragma once

#include "gossamer/compress/codec.hpp"
#include "gossamer/compress/cuda/detail/reductions.hpp"
#include "gossamer/compress/cuda/detail/scales.hpp"

// Some elements of a vector, times a factor: ranges that all workers draw alike.
namespace gossamer::compress::cuda {

/// Consecutive elements of the vector that are consecutive values of the payload. A range ends where the next begins.
struct copied_range {
  std::uint64_t element, value;
};

/// Finds the element of each value. Values are asked for in order.
class range_walk {
public:
  /// @param first value that is asked for first
  GOSSAMER_KERNEL range_walk(const copied_range* ranges, std::uint64_t count, std::uint64_t first) : count_(count) {
    ranges_ = ranges;
    std::uint64_t low = 0, high = count; // the last range that begins at or before `first`
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

/// values = factor * kept elements of v, clamped to the magnitude `most`.
struct gather_ranges {
  static constexpr const char* name = "gather_ranges";
  struct shared {};

  const float* v;
  const copied_range* ranges;
  std::uint64_t count, size; ///< number of ranges, and of values
  float factor, most;
  float* values;
  findings* found; ///< may be null

  template <class Thread>
  GOSSAMER_KERNEL void operator()(Thread& t) const {
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
    if (!finite && found != nullptr)
      t.raise(&found->not_finite, 1);
  }
};

/// y += factor * values at their elements.
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

/// The selection of a linear codec, for kernels of a queue.
template <class Queue>
class kept_elements {
public:
  /// @param kept not empty
  kept_elements(Queue& queue, const selection& kept)
      : q_(queue), factor_(kept.factor), size_(kept.size()), count_(kept.ranges.size()),
        ranges_(queue.template array<copied_range>(count_)) {
    std::vector<copied_range> ranges;
    std::uint64_t value = 0;
    for (const auto& r : kept.ranges) {
      ranges.push_back({r.begin, value});
      value += r.size;
    }
    q_.upload(ranges_.data(), std::span<const copied_range>{ranges});
  }

  void gather(const float* v, float most, float* values, findings* found) {
    q_.launch(gossamer::cuda::warps_for(size_, 4),
              gather_ranges{v, ranges_.data(), count_, size_, factor_, most, values, found});
  }
  void add(const float* values, float factor, float* y) {
    q_.launch(gossamer::cuda::warps_for(size_, 4), add_ranges{values, ranges_.data(), count_, size_, factor, y});
  }

private:
  Queue& q_;
  float factor_;
  std::uint64_t size_, count_;
  typename Queue::template array_of<copied_range> ranges_;
};

} // namespace gossamer::compress::cuda
