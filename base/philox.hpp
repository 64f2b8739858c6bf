#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace gossamer {

/// Philox4x32-10: a bijection of 128-bit counters, chosen by a 64-bit key. Ten rounds of two 32x32-bit products.
///
/// Reference: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011. Bit-identical with
/// cuRAND's `CURAND_RNG_PSEUDO_PHILOX4_32_10` and with the authors' Random123 vectors.
using philox_counter = std::array<std::uint32_t, 4>;
using philox_key = std::array<std::uint32_t, 2>;

constexpr philox_counter philox4x32_10(philox_counter c, philox_key k) noexcept {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p0 = std::uint64_t{0xD2511F53u} * c[0];
    const std::uint64_t p1 = std::uint64_t{0xCD9E8D57u} * c[2];
    c = {static_cast<std::uint32_t>(p1 >> 32) ^ c[1] ^ k[0], static_cast<std::uint32_t>(p1),
         static_cast<std::uint32_t>(p0 >> 32) ^ c[3] ^ k[1], static_cast<std::uint32_t>(p0)};
    k[0] += 0x9E3779B9u;
    k[1] += 0xBB67AE85u;
  }
  return c;
}

/// The use of a stream of random numbers. It is part of the stream's key, so that two uses never share numbers.
/// The values are part of the reproducibility promise: never renumber.
enum class purpose : std::uint32_t {
  data = 1,      ///< order of the samples
  quantise = 2,  ///< stochastic rounding in codecs
  neighbour = 3, ///< choice of a peer
  merge = 4,     ///< one-bit merges
  sparse = 5,    ///< sparsifiers' private choices
  shared_1 = 6,  ///< choices that all workers make alike (rank is left out of the key)
  shared_2 = 7,
  initial = 8,       ///< the initial point
  partition = 9,     ///< how samples are dealt out
  topology = 10,     ///< random graphs
  synthetic = 11,    ///< generated data
  network = 12,      ///< jitter of simulated links
  timing = 13,       ///< jitter of simulated computations
  faults = 14,       ///< which frames an injected fault hits
  chaos = 15,        ///< random fault plans
  interleaving = 16, ///< which ready actor runs next in simulation
  draw = 17,         ///< minibatches that are drawn from all samples
  corruption = 18,   ///< which bits of a frame an injected fault flips
  redeal = 19,       ///< which worker has which samples when workers are lost or come
  augment = 20,      ///< how pictures are cut and mirrored
  halves = 21        ///< stochastic rounding in codecs with 16 bits an element
};

/// An infinite table of random numbers, keyed by (run seed, rank, purpose) and indexed by (step, element).
///
/// The entry (step, i) is word i mod 4 of Philox at counter {i/4 low, i/4 high, step low, step high}; in cuRAND's terms
/// subsequence = step and offset = i. Reading it has no side effect: any order, any thread and the GPU see the same
/// numbers. The key is Philox itself at key = seed and counter {rank, purpose, "goss", 0}.
/// Threads: safe (immutable).
class random_stream {
public:
  random_stream(std::uint64_t seed, std::uint32_t rank, purpose use) noexcept;
  /// The stream with this key, e.g. that of another worker.
  explicit random_stream(philox_key key) noexcept : key_(key) {}

  philox_key key() const noexcept { return key_; }

  std::uint32_t word(std::uint64_t step, std::uint64_t i) const noexcept;
  /// Uniform in [0, 1): (word >> 8) * 2^-24.
  float uniform(std::uint64_t step, std::uint64_t i) const noexcept {
    return static_cast<float>(word(step, i) >> 8) * 0x1p-24f;
  }
  /// Words first, first + 1, ... of one step; vectorised, about one CPU cycle a word with AVX-512.
  /// @param first a multiple of 4
  void fill(std::uint64_t step, std::uint64_t first, std::span<std::uint32_t> words) const noexcept;

private:
  philox_key key_;
};

/// Reads one step of a stream in order: for shuffles, graphs and synthetic data, where the number of draws is not
/// known beforehand. Satisfies `std::uniform_random_bit_generator`. The distributions are our own because the standard
/// library's differ from one implementation to the next.
class random_sequence {
public:
  using result_type = std::uint32_t;

  random_sequence(const random_stream& stream, std::uint64_t step) noexcept : stream_(stream), step_(step) {}

  static constexpr result_type min() noexcept { return 0; }
  static constexpr result_type max() noexcept { return 0xFFFFFFFFu; }
  result_type operator()() noexcept;

  /// Uniform in [0, 1) with 24 random bits.
  float uniform() noexcept { return static_cast<float>((*this)() >> 8) * 0x1p-24f; }
  /// Uniform in [0, 1) with 53 random bits.
  double uniform_double() noexcept;
  /// Uniform in 0 .. bound - 1 without bias (Lemire 2019). Requires bound > 0.
  std::uint32_t below(std::uint32_t bound) noexcept;
  /// Standard normal (Box-Muller).
  double normal() noexcept;
  /// Gamma with the given shape > 0 and scale 1 (Marsaglia and Tsang 2000).
  double gamma(double shape) noexcept;
  /// A uniformly random order (Fisher-Yates).
  template <class T>
  void shuffle(std::span<T> items) noexcept {
    for (auto i = static_cast<std::uint32_t>(items.size()); i > 1; --i)
      std::swap(items[i - 1], items[below(i)]);
  }

private:
  random_stream stream_;
  std::uint64_t step_;
  std::uint64_t next_ = 0;
  std::array<std::uint32_t, 4> group_{};
};

} // namespace gossamer
