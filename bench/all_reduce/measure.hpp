#pragma once
// The measurement of all_reduce.cpp, around an all-reduce of another library.

#include <algorithm>
#include <chrono>
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

inline constexpr int batches = 15;

/// Number of all-reduces in a batch, when each takes so many microseconds.
inline int rounds_of(double each) {
  constexpr double batch_us = 20'000;
  return std::clamp(static_cast<int>(batch_us / each), 2, 400);
}

/// @param all_reduce sums so many floats in place
inline void measure(int rank, int n, std::size_t kib, const std::function<void(float*, std::size_t)>& all_reduce) {
  const auto count = kib * 1024 / sizeof(float);
  std::vector<float> v(count);
  for (std::size_t i = 0; i < count; ++i)
    v[i] = static_cast<float>(rank + 1) * static_cast<float>(i % 1000);
  all_reduce(v.data(), count);
  for (std::size_t i = 0; i < count; ++i)
    if (v[i] != static_cast<float>(n * (n + 1) / 2) * static_cast<float>(i % 1000))
      std::abort();
  std::fill(v.begin(), v.end(), 0.0f);
  std::vector<float> shared(8);
  const auto total = [&](double mine) {
    std::fill(shared.begin(), shared.end(), 0.0f);
    shared[0] = static_cast<float>(mine);
    all_reduce(shared.data(), shared.size());
    return static_cast<double>(shared[0]);
  };
  const double start = now_us();
  for (int i = 0; i < 3; ++i)
    all_reduce(v.data(), count);
  const double each = total(rank == 0 ? (now_us() - start) / 3 : 0.0);
  const int rounds = rounds_of(each);
  for (int batch = 0; batch < batches; ++batch) {
    total(0);
    const double began = now_us(), used = processor_us();
    for (int i = 0; i < rounds; ++i)
      all_reduce(v.data(), count);
    const double took = (now_us() - began) / rounds;
    const double processors = total((processor_us() - used) / rounds);
    if (rank == 0)
      std::printf("R dense %d %zu %.2f %.2f\n", n, kib * 1024, took, processors);
  }
  std::fflush(stdout);
}

} // namespace bench
