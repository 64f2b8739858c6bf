// Bits that are 1 with one probability, compiled once for each instruction set and chosen at run time.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "gossamer/compress/bernoulli.cpp"
#include "gossamer/compress/detail/bernoulli.hpp"

#include "gossamer/base/error.hpp"

#include <hwy/foreach_target.h> // must come before highway.h
#include <hwy/highway.h>

#include <algorithm>

HWY_BEFORE_NAMESPACE();
namespace gossamer::compress::detail {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Compares one digit of the limit with a plane.
/// @param open  bits whose digits have been those of the limit so far
/// @param below bits that were found to be below the limit
/// @returns whether any is still open
bool decide(const std::uint32_t* plane, bool digit, std::uint32_t* open, std::uint32_t* below) {
  const hn::CappedTag<std::uint32_t, 16> d;
  auto any = hn::Zero(d);
  for (std::size_t i = 0; i < tile_words; i += hn::Lanes(d)) {
    const auto random = hn::LoadU(d, plane + i), before = hn::LoadU(d, open + i);
    const auto ones = hn::And(before, random), zeros = hn::AndNot(random, before);
    const auto after = digit ? ones : zeros;
    if (digit)
      hn::StoreU(hn::Or(hn::LoadU(d, below + i), zeros), d, below + i);
    hn::StoreU(after, d, open + i);
    any = hn::Or(any, after);
  }
  return !hn::AllTrue(d, hn::Eq(any, hn::Zero(d)));
}

/// Flips each bit of `words` whose bit of `halves` is 1.
void flip(const std::uint32_t* halves, std::uint64_t* bits, std::size_t words) {
  for (std::size_t i = 0; i < words; ++i)
    bits[i] ^= halves[2 * i] | std::uint64_t{halves[2 * i + 1]} << 32;
}

} // namespace HWY_NAMESPACE
} // namespace gossamer::compress::detail
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gossamer::compress::detail {

HWY_EXPORT(decide);
HWY_EXPORT(flip);

namespace {

struct alignas(64) tile {
  std::uint32_t open[tile_words] = {}, below[tile_words] = {};

  /// @param entry of the first plane; a multiple of 4
  /// @returns how many planes were drawn
  std::uint64_t draw(std::uint64_t limit, const random_stream& random, std::uint64_t step, std::uint64_t entry) {
    if (limit > 0xFFFFFFFFu) {
      std::ranges::copy(open, below);
      return 0;
    }
    alignas(64) std::uint32_t plane[tile_words];
    std::uint64_t planes = 0;
    bool undecided = true;
    for (auto rest = static_cast<std::uint32_t>(limit); rest != 0 && undecided; rest <<= 1) {
      random.fill(step, entry + planes++ * plane_entries, plane);
      undecided = HWY_DYNAMIC_DISPATCH(decide)(plane, rest >> 31 != 0, open, below);
    }
    return planes;
  }
};

} // namespace

std::uint64_t flip_bits(std::uint64_t limit, const random_stream& random, std::uint64_t step, std::uint64_t first,
                        std::size_t elements, std::span<std::uint64_t> bits) noexcept {
  GOSSAMER_ASSERT(first % 64 == 0 && bits.size() == (elements + 63) / 64, "64 elements share a word");
  std::uint64_t drawn = 0;
  for (std::size_t done = 0, count; done < bits.size(); done += count) {
    const auto entry = first / 32 + 2 * done;
    const auto skipped = static_cast<std::size_t>(entry % 4); // a stream is read four words at once
    count = std::min((tile_words - skipped) / 2, bits.size() - done);
    tile t;
    std::fill_n(t.open + skipped, 2 * count, 0xFFFFFFFFu);
    if (const auto rest = elements - 64 * done; rest < 64 * count) {
      const auto last = (std::uint64_t{1} << rest % 64) - 1;
      t.open[skipped + 2 * count - 2] = static_cast<std::uint32_t>(last);
      t.open[skipped + 2 * count - 1] = static_cast<std::uint32_t>(last >> 32);
    }
    drawn += 2 * count * t.draw(limit, random, step, entry - skipped);
    HWY_DYNAMIC_DISPATCH(flip)(t.below + skipped, bits.data() + done, count);
  }
  return drawn;
}

} // namespace gossamer::compress::detail
#endif
