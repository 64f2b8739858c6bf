#pragma once

#include "gossamer/base/error.hpp"
#include "gossamer/base/philox.hpp"
#include "gossamer/compress/cuda/detail/reductions.hpp"
#include "gossamer/compress/cuda/detail/scales.hpp"
#include "gossamer/compress/detail/bernoulli.hpp"

// One bit an element. A warp looks at 128 elements at once, four a lane; ballots gather the bits of equal place in all
// lanes, and lanes put them in order.
#include <span>

namespace gossamer::compress::cuda {

/// Elements that a warp takes at once: 512, whose bits are 16 words.
inline constexpr std::uint64_t sign_tile = 16 * warp_size;

/// 32-bit words that the kernels write and read: whole tiles.
constexpr std::uint64_t sign_tile_words(std::uint64_t elements) noexcept {
  return (elements + sign_tile - 1) / sign_tile * (sign_tile / 32);
}

/// Bit m of a byte becomes bit 4 m.
GOSSAMER_HD constexpr std::uint32_t spread(std::uint32_t byte) noexcept {
  auto x = byte;
  x = (x | x << 12) & 0x000F000Fu;
  x = (x | x << 6) & 0x03030303u;
  return (x | x << 3) & 0x11111111u;
}

/// Returns word j of four: bit 4 m + c of it is bit 8 j + m of ballot c.
GOSSAMER_HD constexpr std::uint32_t interleave(const std::uint32_t* ballots, unsigned j) noexcept {
  std::uint32_t word = 0;
  GOSSAMER_UNROLL
  for (unsigned c = 0; c < 4; ++c)
    word |= spread(ballots[c] >> 8 * j & 0xFFu) << c;
  return word;
}

/// (v AND w) OR ((v XOR w) AND r): Marsit's merge of a word.
GOSSAMER_HD constexpr std::uint32_t merged(std::uint32_t v, std::uint32_t w, std::uint32_t r) noexcept {
  return (v & w) | ((v ^ w) & r);
}

/// Bit 1 where v_i >= 0.
struct signs_of {
  const float* v;

  GOSSAMER_KERNEL bool aligned_elements() const { return aligned(v); }

  template <bool whole, class Thread>
  GOSSAMER_KERNEL std::uint32_t bits(Thread&, std::uint64_t first, std::uint64_t size, bool& finite) const {
    const auto x = load_four<whole>(v, first, size);
    std::uint32_t result = 0;
    GOSSAMER_UNROLL
    for (unsigned j = 0; j < 4; ++j) {
      const float element = x.x[j];
      finite = finite && is_finite(element);
      if (element >= 0)
        result |= 1u << j;
    }
    return result;
  }
};

/// Bit 1 with probability 1/2 + 1/2 v_i / norm.
struct random_signs {
  const float* v;
  const float* norms; ///< one for each row
  std::uint64_t row;
  philox_key key;
  std::uint64_t step;

  GOSSAMER_KERNEL bool aligned_elements() const { return aligned(v); }

  template <bool whole, class Thread>
  GOSSAMER_KERNEL std::uint32_t bits(Thread& t, std::uint64_t first, std::uint64_t size, bool&) const {
    const auto x = load_four<whole>(v, first, size);
    const auto words = t.random(key, step, first / 4);
    std::uint32_t result = 0;
    GOSSAMER_UNROLL
    for (unsigned j = 0; j < 4; ++j)
      if (whole || first + j < size) {
        const float given = norms[row < size ? (first + j) / row : 0], norm = given > 0 ? given : 1;
        const float p = 0.5f + 0.5f * (x.x[j] / norm);
        result |= (static_cast<float>(words[j] >> 8) * 0x1p-24f < p ? 1u : 0u) << j;
      }
    return result;
  }
};

template <class Source>
struct pack_bits {
  static constexpr const char* name = "pack_bits";
  struct shared {};

  Source source;
  std::uint64_t size;
  std::uint32_t* words; ///< `sign_tile_words`, or exactly the words of the elements if `exact`
  bool exact;
  findings* found;

  template <class Thread>
  GOSSAMER_KERNEL void operator()(Thread& t) const {
    bool finite = true;
    for (auto begin = sign_tile * t.warp(); begin < size; begin += sign_tile * t.warps()) {
      std::uint32_t mine = 0;
      std::uint32_t bits[4];
      if (begin + sign_tile <= size && source.aligned_elements())
        look_at<true>(t, begin, bits, finite);
      else
        look_at<false>(t, begin, bits, finite);
      GOSSAMER_UNROLL
      for (unsigned q = 0; q < 4; ++q) {
        std::uint32_t ballots[4];
        GOSSAMER_UNROLL
        for (unsigned c = 0; c < 4; ++c)
          ballots[c] = t.ballot((bits[q] >> c & 1u) != 0);
        if (t.lane() / 4 == q)
          mine = interleave(ballots, t.lane() % 4);
      }
      const auto w = begin / 32 + t.lane();
      if (t.lane() < sign_tile / 32 && (!exact || w < (size + 63) / 64 * 2))
        words[w] = mine;
    }
    if (!finite)
      t.raise(&found->not_finite, 1);
  }

private:
  template <bool whole, class Thread>
  GOSSAMER_KERNEL void look_at(Thread& t, std::uint64_t begin, std::uint32_t* bits, bool& finite) const {
    GOSSAMER_UNROLL
    for (unsigned q = 0; q < 4; ++q) {
      const auto first = begin + 4 * (warp_size * q + t.lane());
      bits[q] = source.template bits<whole>(t, first, size, finite);
      if (!whole && first + 4 > size)
        bits[q] &= first < size ? (1u << (size - first)) - 1 : 0;
    }
  }
};

/// y_i += m where the bit is 1, else y_i -= m, m = factor * magnitude of the row.
struct add_sign_bits {
  static constexpr const char* name = "add_sign_bits";
  struct shared {};

  const std::uint32_t* words;
  const float* magnitudes; ///< one for each row; null: 1
  std::uint64_t row;
  float factor;
  float* y;
  std::uint64_t size;

  template <class Thread>
  GOSSAMER_KERNEL void operator()(Thread& t) const {
    for (auto first = 4 * t.global(); first < size; first += 4 * t.globals()) {
      const auto bits = words[first / 32] >> first % 32;
      four<float> x{};
      GOSSAMER_UNROLL
      for (unsigned j = 0; j < 4; ++j) {
        const float m =
            magnitudes == nullptr || first + j >= size ? 1.0f : magnitudes[row < size ? (first + j) / row : 0];
        x.x[j] = (bits >> j & 1u) != 0 ? m : -m;
      }
      add_four(y, first, size, factor, x);
    }
  }
};

/// The random half of Marsit's merge, four words a thread: they share the random numbers of a plane, which are drawn
/// until all are decided (compress/detail/bernoulli.hpp has the maths).
struct flip_bits {
  static constexpr const char* name = "flip_bits";
  struct shared {};

  const std::uint32_t* given;
  std::uint32_t limit;
  philox_key key;
  std::uint64_t step;
  std::uint64_t entry; ///< of the first word
  std::uint64_t elements;
  std::uint32_t* out; ///< may be `given`

  GOSSAMER_HD constexpr std::uint64_t words() const { return (elements + 63) / 64 * 2; }

  template <class Thread>
  GOSSAMER_KERNEL void operator()(Thread& t) const {
    const auto skipped = entry % 4;
    for (auto first = 4 * t.global(); first < skipped + words(); first += 4 * t.globals()) {
      std::uint32_t open[4], below[4] = {};
      GOSSAMER_UNROLL
      for (unsigned j = 0; j < 4; ++j)
        open[j] = first + j < skipped ? 0 : elements_of(first + j - skipped);
      auto group = (entry - skipped + first) / 4;
      for (auto rest = limit; rest != 0 && (open[0] | open[1] | open[2] | open[3]) != 0; rest <<= 1) {
        const auto random = t.random(key, step, group);
        group += detail::plane_entries / 4;
        GOSSAMER_UNROLL
        for (unsigned j = 0; j < 4; ++j) {
          const bool digit = rest >> 31 != 0;
          below[j] |= digit ? open[j] & ~random[j] : 0;
          open[j] &= digit ? random[j] : ~random[j];
        }
      }
      GOSSAMER_UNROLL
      for (unsigned j = 0; j < 4; ++j)
        if (const auto i = first + j - skipped; first + j >= skipped && i < words())
          out[i] = given[i] ^ below[j];
    }
  }

private:
  /// Returns the bits of word i that have an element.
  GOSSAMER_KERNEL std::uint32_t elements_of(std::uint64_t i) const {
    if (32 * i >= elements)
      return 0;
    return elements - 32 * i < 32 ? (1u << (elements - 32 * i)) - 1 : 0xFFFFFFFFu;
  }
};

/// Marsit's merge, word by word.
struct merge_words {
  static constexpr const char* name = "merge_words";
  struct shared {};

  const std::uint32_t *received, *local, *transient;
  std::uint64_t size; ///< number of 32-bit words
  std::uint32_t* out; ///< may be any of the operands

  template <class Thread>
  GOSSAMER_KERNEL void operator()(Thread& t) const {
    for (auto i = 4 * t.global(); i < size; i += 4 * t.globals()) {
      const auto v = load_four(received, i, size), w = load_four(local, i, size), r = load_four(transient, i, size);
      four<std::uint32_t> result;
      GOSSAMER_UNROLL
      for (unsigned j = 0; j < 4; ++j)
        result.x[j] = merged(v.x[j], w.x[j], r.x[j]);
      store_four(out, i, size, result);
    }
  }
};

// The steps of signs.hpp, over a queue as in encode.hpp. Words are the halves of those of compress/sign_bits.hpp.

template <class Queue>
void pack_signs(Queue& q, std::span<const float> v, std::uint32_t* words) {
  const auto found = q.template zeros<findings>(1);
  q.launch((v.size() + sign_tile - 1) / sign_tile,
           pack_bits<signs_of>{{v.data()}, v.size(), words, true, found.data()});
}

template <class Queue>
void draw_transient(Queue& q, const std::uint32_t* local, std::uint32_t a, std::uint32_t b, std::uint64_t elements,
                    const random_stream& random, std::uint64_t step, std::uint64_t first, std::uint32_t* out) {
  GOSSAMER_ASSERT(a > 0 && b > 0, "both sides of a merge stand for somebody");
  GOSSAMER_ASSERT(first % 64 == 0, "64 elements share a word");
  const flip_bits flips{local, detail::limit_of(a, std::uint64_t{a} + b), random.key(), step, first / 32, elements,
                        out};
  q.launch(gossamer::cuda::warps_for(flips.words() + first / 32 % 4, 4), flips);
}

template <class Queue>
void merge_signs(Queue& q, const std::uint32_t* received, const std::uint32_t* local, const std::uint32_t* transient,
                 std::uint64_t words, std::uint32_t* out) {
  q.launch((words + 4 * warp_size - 1) / (4 * warp_size), merge_words{received, local, transient, words, out});
}

template <class Queue>
void add_sign_words(Queue& q, const std::uint32_t* words, float magnitude, std::span<float> values) {
  q.launch((values.size() + 4 * warp_size - 1) / (4 * warp_size),
           add_sign_bits{words, nullptr, 1, magnitude, values.data(), values.size()});
}

} // namespace gossamer::compress::cuda
