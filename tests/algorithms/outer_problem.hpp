#pragma once

#include "gossip_problem.hpp"

/// The runs of DiLoCo and its kin: their size, and what their tests use.
namespace gossamer::testing_support::outer_problem {

using testing_support::quadratics;
using testing_support::runs;
using testing_support::tiny_world;
using testing_support::world_with_master;

inline constexpr std::size_t size = 34, workers = 4;
inline constexpr std::uint64_t period = 5, rounds = 8, steps = period * rounds;
inline constexpr double gamma = 0.1;

/// Streaming DiLoCo with P = 2 and alpha = 0.25 in plain loops, of so many steps; returns the workers' models.
inline std::vector<std::vector<double>> streamed(const quadratics& p, std::uint64_t tau, std::uint64_t last = steps) {
  constexpr std::uint64_t H = 10, P = 2;
  std::vector<double> theta(size), u(size), frozen(size); // the mean of what all have frozen
  std::vector<std::vector<double>> x(workers, theta);
  const auto first = [](std::uint64_t f) { return f * size / P; };
  for (std::uint64_t t = 0; t < last; ++t) {
    for (std::size_t i = 0; i < workers; ++i) {
      const auto g = p.gradient(i, t, std::vector<float>(x[i].begin(), x[i].end()));
      for (std::size_t k = 0; k < size; ++k)
        x[i][k] -= gamma * static_cast<double>(g[k]);
    }
    for (std::uint64_t f = 0; f < P; ++f) {
      if ((t + 1) % H == f * H / P)
        for (auto k = first(f); k < first(f + 1); ++k) {
          frozen[k] = 0;
          for (const auto& one : x)
            frozen[k] += (theta[k] - one[k]) / workers;
        }
      if (t >= tau && (t - tau + 1) % H == f * H / P)
        for (auto k = first(f); k < first(f + 1); ++k) {
          u[k] = 0.9 * u[k] + frozen[k];
          theta[k] -= 0.7 * (frozen[k] + 0.9 * u[k]);
          for (auto& one : x)
            one[k] = 0.25 * one[k] + 0.75 * theta[k];
        }
    }
  }
  return x;
}

} // namespace gossamer::testing_support::outer_problem
