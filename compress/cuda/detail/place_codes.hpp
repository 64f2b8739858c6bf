#pragma once

#include "gossamer/compress/cuda/detail/reductions.hpp"
#include "gossamer/compress/cuda/detail/scales.hpp"

// Places of values: indices of elements, strictly ascending, of `bits` bits each, one after the other without gaps.
namespace gossamer::compress::cuda {

/// The words of 32 bits that the kernels write and read.
constexpr std::uint64_t place_words(int bits, std::uint64_t count) noexcept {
  return (count * static_cast<unsigned>(bits) + 31) / 32;
}

/// Packs one word a thread: the bits of all places that fall into it.
struct pack_places {
  static constexpr const char* name = "pack_places";
  struct shared {};

  const std::uint32_t* places;
  std::uint64_t count;
  int bits;             ///< 1 to 32
  std::uint32_t* words; ///< `place_words`

  template <class Thread>
  GOSSAMER_KERNEL void operator()(Thread& t) const {
    const auto width = static_cast<unsigned>(bits);
    for (auto w = t.global(); w < place_words(bits, count); w += t.globals()) {
      const auto begin = 32 * w;
      std::uint64_t word = 0;
      for (auto k = begin / width; k < count && k * width < begin + 32; ++k) {
        const std::uint64_t place = places[k];
        word |= k * width >= begin ? place << (k * width - begin) : place >> (begin - k * width);
      }
      words[w] = static_cast<std::uint32_t>(word);
    }
  }
};

GOSSAMER_HD inline std::uint32_t place_at(const std::uint32_t* words, int bits, std::uint64_t k,
                                          std::uint64_t count) noexcept {
  const auto begin = k * static_cast<unsigned>(bits);
  const auto w = begin / 32;
  const std::uint64_t low = words[w], high = w + 1 < place_words(bits, count) ? words[w + 1] : 0;
  return static_cast<std::uint32_t>((low | high << 32) >> begin % 32 & ((std::uint64_t{1} << bits) - 1));
}

/// Faults in places and values that a peer sent.
struct sparse_faults {
  std::uint32_t places = 0, values = 0; ///< 1 when a place is out of order or range, or a value not finite
};

struct check_sparse {
  static constexpr const char* name = "check_sparse";
  struct shared {};

  const float* values;
  const std::uint32_t* places; ///< packed; null when the places are drawn again
  std::uint64_t count, elements;
  int bits;
  sparse_faults* faults;

  template <class Thread>
  GOSSAMER_KERNEL void operator()(Thread& t) const {
    for (auto k = t.global(); k < count; k += t.globals()) {
      if (!is_finite(values[k]))
        t.raise(&faults->values, 1);
      if (places == nullptr)
        continue;
      const auto place = place_at(places, bits, k, count);
      if (place >= elements || (k > 0 && place <= place_at(places, bits, k - 1, count)))
        t.raise(&faults->places, 1);
    }
  }
};

/// y += factor * values at their places. Requires checked places.
struct add_places {
  static constexpr const char* name = "add_places";
  struct shared {};

  const float* values;
  const std::uint32_t* places;
  std::uint64_t count;
  int bits;
  float factor;
  float* y;

  template <class Thread>
  GOSSAMER_KERNEL void operator()(Thread& t) const {
    for (auto k = t.global(); k < count; k += t.globals())
      y[place_at(places, bits, k, count)] += factor * values[k];
  }
};

} // namespace gossamer::compress::cuda
