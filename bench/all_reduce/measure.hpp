#pragma once
// The measurement of all_reduce.cpp, around an all-reduce of another library.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <sys/resource.h>
#include <vector>

namespace bench {

inline double now_us() {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

inline double processor_us() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto us = [](const timeval& t) { return 1e6 * static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec); };
  return us(used.ru_utime) + us(used.ru_stime);
}

inline constexpr int batches = 5;

/// Number of all-reduces in a batch, when each takes so many microseconds. Limited, because sums in place grow by a
/// factor of n each time, and shall stay finite.
inline int rounds_of(double each, int n) {
  constexpr double batch_us = 20'000, most_digits = 36;
  const int most = static_cast<int>(most_digits / std::log10(std::max(n, 2)));
  return std::clamp(static_cast<int>(batch_us / each), 2, most);
}

/// Time that goes unseen before: while connections, caches and the processes themselves settle.
inline constexpr double settling_us = 500'000;

/// Element i of a rank's vector, between -1 and 1: bits of the mixer of SplitMix64, which no code finds easy.
inline float value(int rank, std::size_t i) {
  auto z = (static_cast<std::uint64_t>(rank) << 40) + i + 0x9E3779B97F4A7C15U;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
  return static_cast<float>(static_cast<double>((z ^ (z >> 31)) >> 40) * 0x1p-23 - 1);
}

inline void fill(float* v, std::size_t count, int rank) {
  for (std::size_t i = 0; i < count; ++i)
    v[i] = value(rank, i);
}

inline double exact_sum(int n, std::size_t i) {
  double sum = 0;
  for (int rank = 0; rank < n; ++rank)
    sum += static_cast<double>(value(rank, i));
  return sum;
}

/// Ends the program if v is not the sum of all ranks' vectors, times a factor.
inline void check_sum(const float* v, std::size_t count, int n, double factor) {
  const double tolerance = 1e-5 * n * factor;
  for (std::size_t i = 0; i < count; ++i)
    if (const double exact = factor * exact_sum(n, i); !(std::abs(static_cast<double>(v[i]) - exact) <= tolerance)) {
      std::fprintf(stderr, "element %zu is %g where the sum is %g\n", i, static_cast<double>(v[i]), exact);
      std::exit(1);
    }
}

/// @param all_reduce sums so many floats in place
inline void measure(int rank, int n, std::size_t kib, const std::function<void(float*, std::size_t)>& all_reduce) {
  const auto count = kib * 1024 / sizeof(float);
  std::vector<float> v(count), shared(8);
  const auto total = [&](double mine) {
    std::fill(shared.begin(), shared.end(), 0.0f);
    shared[0] = static_cast<float>(mine);
    all_reduce(shared.data(), shared.size());
    return static_cast<double>(shared[0]);
  };
  const double start = now_us();
  double each = 0;
  do {
    fill(v.data(), count, rank);
    const double began = now_us();
    for (int i = 0; i < 3; ++i)
      all_reduce(v.data(), count);
    each = total(rank == 0 ? (now_us() - began) / 3 : 0.0);
  } while (total(rank == 0 && now_us() - start < settling_us ? 1.0 : 0.0) > 0);
  const int rounds = rounds_of(each, n);
  for (int batch = 0; batch < batches; ++batch) {
    fill(v.data(), count, rank);
    total(0);
    const double began = now_us(), used = processor_us();
    for (int i = 0; i < rounds; ++i)
      all_reduce(v.data(), count);
    const double took = (now_us() - began) / rounds;
    const double processors = total((processor_us() - used) / rounds);
    check_sum(v.data(), count, n, std::pow(n, rounds - 1));
    if (rank == 0)
      std::printf("R dense %d %zu %.2f %.2f\n", n, kib * 1024, took, processors);
  }
  std::fflush(stdout);
}

} // namespace bench
