#pragma once

#include "gossamer/actors/collectives/dense_sum.hpp"
#include "gossamer/actors/collectives/one_bit_merge.hpp"
#include "gossamer/actors/collectives/sign_sum.hpp"

#include <gtest/gtest.h>

#include "script.hpp"

// Workers whose life is one reduction.
namespace gossamer::actors {

using compress::sign_sum_code;
using testing_support::script;
using testing_support::tiny_world;

constexpr route all_routes[] = {route::ring, route::torus, route::halving, route::direct, route::star};
constexpr std::size_t crowds[] = {1, 2, 3, 4, 6, 7, 8, 9};
constexpr std::size_t lengths[] = {0, 1, 2, 5, 63, 64, 65, 130, 1000};

inline float value_of(rank i, std::size_t k) { return random_stream{9, i, purpose::synthetic}.uniform(0, k) - 0.5f; }

inline vec values_of(buffer_pool& pool, rank i, std::size_t size) {
  vec v{pool, size};
  auto values = v.mutate();
  for (std::size_t k = 0; k < size; ++k)
    values[k] = value_of(i, k);
  return v;
}

inline int sum_of_signs(std::size_t workers, std::size_t k) {
  int sum = 0;
  for (rank i = 0; i < workers; ++i)
    sum += value_of(i, k) >= 0 ? 1 : -1;
  return sum;
}

struct crowd {
  std::size_t workers, length;
  std::uint64_t timing = 0;
};

/// Runs `life` in every worker, on its own `values_of`.
inline std::unique_ptr<tiny_world> let_live(const crowd& c, const script::life& life) {
  static buffer_pool pool;
  auto world = std::make_unique<tiny_world>(
      tiny_world::options{.topology = "complete", .workers = c.workers, .timing = c.timing},
      [&](rank i) { return std::make_unique<script>(values_of(pool, i, c.length), life); },
      [](rank, std::uint64_t, const vec& x) { return x; });
  EXPECT_TRUE(world->run()) << c.workers << " workers, length " << c.length;
  return world;
}

inline task<> add_up(worker& w, vec& x, route way) { x = co_await sum_of_all(w, x, way, 0); }

template <class Reduction>
task<> count(worker& w, vec& x, route way, sign_sum_code code) {
  Reduction r{w, x, code};
  co_await all_reduce(w, r, way, 0);
  x = r.values();
}

inline task<> merge(worker& w, vec& x, route way) {
  one_bit_merge r{w, x, 0};
  co_await all_reduce(w, r, way, 0);
  x = r.values();
}

/// Asserts that all workers hold the same bits.
inline void expect_agreement(const tiny_world& world, std::size_t workers) {
  for (rank i = 1; i < workers; ++i)
    ASSERT_EQ(world.model(i), world.model(0)) << "worker " << i;
}

/// The route over a torus of eight workers.
constexpr route four_rows{4};

} // namespace gossamer::actors
