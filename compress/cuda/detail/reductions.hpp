#pragma once

#include "gossamer/base/cuda/detail/sums.hpp"
#include "gossamer/compress/cuda/detail/memory_access.hpp"
#include "gossamer/compress/detail/level_form.hpp"

#include <bit>

// Reductions over all elements that encoders need before they can write the first, beside sums
// (base/cuda/detail/sums.hpp): the least and the greatest of each row. Rows are runs of `row` elements, of which the
// last may be shorter.
namespace gossamer::compress::cuda {

/// Bits of a float in the order of floats: -NaN < -infinity < ... < -0 < 0 < ... < infinity < NaN.
GOSSAMER_HD constexpr std::uint32_t ordered(float x) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  return bits >> 31 != 0 ? ~bits : bits | 0x80000000u;
}

GOSSAMER_HD constexpr float from_ordered(std::uint32_t key) noexcept {
  return std::bit_cast<float>(key >> 31 != 0 ? key & 0x7FFFFFFFu : ~key);
}

GOSSAMER_HD constexpr bool is_finite(float x) noexcept {
  return (std::bit_cast<std::uint32_t>(x) & 0x7FFFFFFFu) < 0x7F800000u;
}

/// The ends of a row as maxima that begin with 0: of `ordered`, and of its complement.
struct row_ends {
  std::uint32_t greatest, least_complement;

  /// Least and greatest element; 0 always as +0.
  GOSSAMER_HD detail::value_range range() const noexcept {
    return {from_ordered(~least_complement) + 0.0f, from_ordered(greatest) + 0.0f};
  }
};

/// Raises the ends of each row. Rows are cut into pieces, which warps take in turn; a warp whose pieces are in one row
/// writes once.
struct find_ranges {
  static constexpr const char* name = "find_ranges";
  static constexpr std::uint64_t piece = 4096;
  struct shared {};

  const float* v;
  std::uint64_t size, row;
  row_ends* ends; ///< one entry for each row; 0 at first

  static constexpr std::uint64_t pieces_of(std::uint64_t elements, std::uint64_t row) {
    return (elements + row - 1) / row * ((row + piece - 1) / piece);
  }

  template <class Thread>
  GOSSAMER_KERNEL void operator()(Thread& t) const {
    const auto pieces_a_row = (row + piece - 1) / piece;
    const auto pieces = (size + row - 1) / row * pieces_a_row;
    std::uint64_t present = 0;
    row_ends found{};
    for (auto p = t.warp(); p < pieces; p += t.warps()) {
      const auto r = p / pieces_a_row, row_begin = r * row, row_end = row_begin + row < size ? row_begin + row : size;
      if (r != present) {
        write(t, found, ends[present]);
        found = {};
        present = r;
      }
      const auto begin = row_begin + p % pieces_a_row * piece;
      if (begin < row_end)
        look_at(v + begin, t.lane(), row_end - begin < piece ? row_end - begin : piece, found);
    }
    write(t, found, ends[present]);
  }

private:
  GOSSAMER_KERNEL static void look_at(const float* from, unsigned lane, std::uint64_t count, row_ends& found) {
    if (count == piece && aligned(from)) {
      const auto* fours = reinterpret_cast<const four<float>*>(from) + lane;
      for (unsigned k = 0; k < piece / 4; k += 4 * warp_size) {
        four<float> x[4]; // loads that do not wait for each other
        GOSSAMER_UNROLL
        for (unsigned j = 0; j < 4; ++j)
          x[j] = fours[k + j * warp_size];
        GOSSAMER_UNROLL
        for (unsigned j = 0; j < 16; ++j)
          include(x[j / 4].x[j % 4], found);
      }
      return;
    }
    for (std::uint64_t i = 4 * lane; i < count; i += 4 * warp_size) {
      const auto x = load_four(from, i, count);
      for (unsigned j = 0; j < 4 && i + j < count; ++j)
        include(x.x[j], found);
    }
  }

  GOSSAMER_KERNEL static void include(float x, row_ends& found) {
    const auto key = ordered(x);
    found.greatest = key > found.greatest ? key : found.greatest;
    found.least_complement = ~key > found.least_complement ? ~key : found.least_complement;
  }

  template <class Thread>
  GOSSAMER_KERNEL static void write(Thread& t, row_ends found, row_ends& out) {
    for (unsigned n = warp_size / 2; n > 0; n /= 2) {
      const auto greatest = t.down(found.greatest, n), least = t.down(found.least_complement, n);
      found.greatest = greatest > found.greatest ? greatest : found.greatest;
      found.least_complement = least > found.least_complement ? least : found.least_complement;
    }
    if (t.lane() == 0 && (found.greatest | found.least_complement) != 0) { // otherwise the warp has seen no element
      t.raise(&out.greatest, found.greatest);
      t.raise(&out.least_complement, found.least_complement);
    }
  }
};

} // namespace gossamer::compress::cuda
