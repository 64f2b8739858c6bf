#pragma once

#include "gossamer/compress/cuda/detail/reductions.hpp"
#include "gossamer/compress/cuda/detail/sign_codes.hpp"

// The k elements of largest magnitude; lower indices come first among equals. Nothing is sorted: the magnitude of the
// k-th is found digit by digit, from counts. v is read twice as a whole, once for the counts of the first digit and
// once to mark elements that may be among the k; later passes look at these few only.
namespace gossamer::compress::cuda {

/// The bits of a float without its sign, in the order of the magnitudes: three digits of 11, 10 and 10 bits.
GOSSAMER_HD constexpr std::uint32_t magnitude_bits(float x) noexcept {
  return std::bit_cast<std::uint32_t>(x) & 0x7FFFFFFFu;
}
inline constexpr unsigned first_shift = 20, second_shift = 10, first_digits = 2048, later_digits = 1024;

/// State of the search for the magnitude of the k-th.
struct largest_state {
  std::uint32_t prefix = 0; ///< its digits so far
  std::uint32_t wanted = 0; ///< number of elements with these digits that are among the k
};

struct count_first_digits {
  static constexpr const char* name = "count_first_digits";
  struct shared {
    std::uint32_t counts[first_digits];
  };

  const float* v;
  std::uint64_t size;
  std::uint32_t* counts;

  template <class Thread>
  GOSSAMER_KERNEL void operator()(Thread& t) const {
    auto& mine = t.template shared<shared>().counts;
    for (auto d = t.thread(); d < first_digits; d += t.threads())
      mine[d] = 0;
    t.sync_block();
    for (auto first = 4 * t.global(); first < size; first += 4 * t.globals()) {
      const auto x = load_four(v, first, size);
      for (unsigned j = 0; j < 4 && first + j < size; ++j)
        t.add(&mine[magnitude_bits(x.x[j]) >> first_shift], 1);
    }
    t.sync_block();
    for (auto d = t.thread(); d < first_digits; d += t.threads())
      if (mine[d] > 0)
        t.add(&counts[d], mine[d]);
  }
};

/// Finds the digit of the k-th by adding up counts from the greatest digit down. One block.
struct pick_digit {
  static constexpr const char* name = "pick_digit";
  struct shared {
    std::uint32_t sums[gossamer::cuda::launch_policy::most_threads];
  };

  const std::uint32_t* counts;
  std::uint32_t digits; ///< 2048 or 1024
  largest_state* state;
  findings* found;

  template <class Thread>
  GOSSAMER_KERNEL void operator()(Thread& t) const {
    auto& sums = t.template shared<shared>().sums;
    const auto each = digits / t.threads(), first = t.thread() * each;
    std::uint32_t sum = 0;
    for (auto d = first; d < first + each; ++d) {
      sum += counts[d];
      if (digits == first_digits && d >= 0x7F800000u >> first_shift && counts[d] > 0)
        t.raise(&found->not_finite, 1);
    }
    sums[t.thread()] = sum;
    t.sync_block();
    if (t.thread() > 0)
      return;
    std::uint32_t above = 0;
    auto share = t.threads() - 1;
    for (; share > 0 && above + sums[share] < state->wanted; --share)
      above += sums[share];
    auto digit = (share + 1) * each - 1;
    for (; digit > share * each && above + counts[digit] < state->wanted; --digit)
      above += counts[digit];
    state->prefix = state->prefix * digits + digit;
    state->wanted -= above;
  }
};

/// Bits for `pack_bits`: 1 where the first digit is that of the k-th or above. Counts the second digits of elements
/// whose first digit is that of the k-th.
struct candidates {
  const float* v;
  const largest_state* state;
  std::uint32_t* counts;

  GOSSAMER_KERNEL bool aligned_elements() const { return aligned(v); }

  template <bool whole, class Thread>
  GOSSAMER_KERNEL std::uint32_t bits(Thread& t, std::uint64_t first, std::uint64_t size, bool&) const {
    const auto x = load_four<whole>(v, first, size);
    const auto least = state->prefix;
    std::uint32_t result = 0;
    GOSSAMER_UNROLL
    for (unsigned j = 0; j < 4; ++j) {
      const auto m = magnitude_bits(x.x[j]), digit = m >> first_shift;
      result |= (digit >= least ? 1u : 0u) << j;
      if (digit == least && (whole || first + j < size))
        t.add(&counts[m >> second_shift & (later_digits - 1)], 1);
    }
    return result;
  }
};

/// Calls `action(i)` for the elements of a word of marks, in order.
template <class Action>
GOSSAMER_KERNEL void for_each_mark(std::uint32_t word, std::uint64_t first, Action action) {
  for (auto i = first; word != 0; word >>= 1, ++i)
    if ((word & 1u) != 0)
      action(i);
}

struct count_last_digits {
  static constexpr const char* name = "count_last_digits";
  struct shared {};

  const float* v;
  const std::uint32_t* marks;
  std::uint64_t words;
  const largest_state* state;
  std::uint32_t* counts;

  template <class Thread>
  GOSSAMER_KERNEL void operator()(Thread& t) const {
    const auto prefix = state->prefix;
    for (auto w = t.global(); w < words; w += t.globals())
      for_each_mark(marks[w], 32 * w, [&](std::uint64_t i) {
        const auto m = magnitude_bits(v[i]);
        if (m >> second_shift == prefix)
          t.add(&counts[m & (later_digits - 1)], 1);
      });
  }
};

/// Number of elements of a run above the k-th, and number of those equal to it.
struct above_and_equal {
  std::uint32_t above = 0, equal = 0;

  GOSSAMER_KERNEL void count(std::uint32_t magnitude, std::uint32_t threshold) {
    above += magnitude > threshold ? 1u : 0u;
    equal += magnitude == threshold ? 1u : 0u;
  }
  GOSSAMER_KERNEL above_and_equal operator+(const above_and_equal& other) const {
    return {above + other.above, equal + other.equal};
  }
};

/// Words of marks that a warp takes at once.
inline constexpr std::uint64_t mark_tile = 512;

struct count_kept {
  static constexpr const char* name = "count_kept";
  struct shared {};

  const float* v;
  const std::uint32_t* marks;
  std::uint64_t words;
  const largest_state* state;
  above_and_equal* of_tile;

  template <class Thread>
  GOSSAMER_KERNEL void operator()(Thread& t) const {
    const auto threshold = state->prefix;
    for (auto tile = t.warp(); tile * mark_tile < words; tile += t.warps()) {
      const auto end = (tile + 1) * mark_tile < words ? (tile + 1) * mark_tile : words;
      above_and_equal mine;
      for (auto w = tile * mark_tile + t.lane(); w < end; w += warp_size)
        for_each_mark(marks[w], 32 * w, [&](std::uint64_t i) { mine.count(magnitude_bits(v[i]), threshold); });
      for (unsigned n = warp_size / 2; n > 0; n /= 2)
        mine = mine + above_and_equal{t.down(mine.above, n), t.down(mine.equal, n)};
      if (t.lane() == 0)
        of_tile[tile] = mine;
    }
  }
};

/// Replaces the count of each tile by the sum of all counts before it. One block, of which each thread takes a run of
/// tiles.
struct add_up_tiles {
  static constexpr const char* name = "add_up_tiles";
  struct shared {
    above_and_equal sums[gossamer::cuda::launch_policy::most_threads];
  };

  above_and_equal* of_tile;
  std::uint64_t tiles;

  template <class Thread>
  GOSSAMER_KERNEL void operator()(Thread& t) const {
    auto& sums = t.template shared<shared>().sums;
    const auto each = (tiles + t.threads() - 1) / t.threads(), first = each * t.thread();
    const auto end = first + each < tiles ? first + each : tiles;
    above_and_equal sum;
    for (auto tile = first; tile < end; ++tile)
      sum = sum + of_tile[tile];
    sums[t.thread()] = sum;
    t.sync_block();
    if (t.thread() == 0) {
      above_and_equal before;
      for (unsigned i = 0; i < t.threads(); ++i) {
        const auto own = sums[i];
        sums[i] = before;
        before = before + own;
      }
    }
    t.sync_block();
    auto before = sums[t.thread()];
    for (auto tile = first; tile < end; ++tile) {
      const auto own = of_tile[tile];
      of_tile[tile] = before;
      before = before + own;
    }
  }
};

/// Writes the values and places of the elements that are kept, in order.
struct write_kept {
  static constexpr const char* name = "write_kept";
  struct shared {};

  const float* v;
  const std::uint32_t* marks;
  std::uint64_t words;
  const largest_state* state;
  const above_and_equal* before_tile;
  float* values;
  std::uint32_t* places;

  template <class Thread>
  GOSSAMER_KERNEL void operator()(Thread& t) const {
    for (auto tile = t.warp(); tile * mark_tile < words; tile += t.warps()) {
      auto before = before_tile[tile];
      for (std::uint64_t first = tile * mark_tile; first < (tile + 1) * mark_tile; first += warp_size)
        before = write_words(t, first + t.lane(), before);
    }
  }

private:
  /// Writes one word a lane. @param before counts of all words before those of the warp @returns the counts behind them
  template <class Thread>
  GOSSAMER_KERNEL above_and_equal write_words(Thread& t, std::uint64_t w, above_and_equal before) const {
    const auto threshold = state->prefix, equals = state->wanted;
    const auto word = w < words ? marks[w] : 0;
    above_and_equal mine;
    for_each_mark(word, 32 * w, [&](std::uint64_t i) { mine.count(magnitude_bits(v[i]), threshold); });
    auto through = mine; // counts of this lane and all before it
    for (unsigned n = 1; n < warp_size; n *= 2) {
      const above_and_equal below{t.up(through.above, n), t.up(through.equal, n)};
      if (t.lane() >= n)
        through = through + below;
    }
    auto seen = before + above_and_equal{through.above - mine.above, through.equal - mine.equal};
    for_each_mark(word, 32 * w, [&](std::uint64_t i) {
      const auto m = magnitude_bits(v[i]);
      if (m > threshold || (m == threshold && seen.equal < equals)) {
        const auto at = seen.above + (seen.equal < equals ? seen.equal : equals);
        values[at] = v[i];
        places[at] = static_cast<std::uint32_t>(i);
      }
      seen.count(m, threshold);
    });
    const auto all = through; // the last lane's counts, which all lanes need
    return before + above_and_equal{t.from_last(all.above), t.from_last(all.equal)};
  }
};

} // namespace gossamer::compress::cuda
