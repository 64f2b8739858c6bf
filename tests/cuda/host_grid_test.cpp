// The stand-in for a GPU: it runs threads as a GPU does, and notices mistakes that a GPU would not forgive.
#include <gtest/gtest.h>

#include <numeric>
#include <stdexcept>

#include "support/host_grid.hpp"

namespace gossamer::test {
namespace {

/// Notes the place of every thread; then all threads of a block add up their notes.
struct add_up_places {
  struct shared {
    std::uint32_t sum;
  };
  std::uint32_t* sums;

  template <class Thread>
  void operator()(Thread& t) const {
    auto& sum = t.template shared<shared>().sum;
    if (t.thread() == t.threads() - 1)
      sum = 0;
    t.sync_block();
    t.add(&sum, t.thread());
    t.sync_block();
    if (t.thread() == 0)
      sums[t.block()] = sum + t.block();
  }
};

TEST(host_grid, runs_all_threads_between_two_barriers) {
  for (std::uint64_t order : {0u, 1u, 2u}) {
    std::vector<std::uint32_t> sums(5);
    run_on_host({5, 96}, order, add_up_places{sums.data()});
    for (std::uint32_t b = 0; b < 5; ++b)
      EXPECT_EQ(sums[b], 96u * 95 / 2 + b);
  }
}

struct exchange_values {
  struct shared {};
  std::uint32_t* ballots;
  double* sums;
  std::uint32_t* prefixes;

  template <class Thread>
  void operator()(Thread& t) const {
    ballots[t.global()] = t.ballot(t.lane() % 3 == 0);
    double sum = t.lane();
    for (unsigned n = 16; n > 0; n /= 2)
      sum += t.down(sum, n);
    if (t.lane() == 0)
      sums[t.warp()] = sum;
    auto through = t.lane();
    for (unsigned n = 1; n < 32; n *= 2) {
      const auto below = t.up(through, n);
      through += t.lane() >= n ? below : 0;
    }
    prefixes[t.global()] = through + 1000 * t.from_last(through);
  }
};

TEST(host_grid, lets_lanes_exchange_values) {
  std::vector<std::uint32_t> ballots(128), prefixes(128);
  std::vector<double> sums(4);
  run_on_host({2, 64}, 7, exchange_values{ballots.data(), sums.data(), prefixes.data()});
  for (unsigned i = 0; i < 128; ++i) {
    EXPECT_EQ(ballots[i], 0x49249249u);
    EXPECT_EQ(prefixes[i], i % 32 * (i % 32 + 1) / 2 + 496'000);
  }
  EXPECT_EQ(sums, std::vector<double>(4, 496));
}

/// Makes half of a warp wait in a place where the other half does not.
struct diverge {
  struct shared {};
  bool other_place;

  template <class Thread>
  void operator()(Thread& t) const {
    if (t.lane() < 16)
      t.sync_warp();
    else if (other_place)
      t.ballot(true);
  }
};

TEST(host_grid, refuses_warps_whose_lanes_wait_at_different_places) {
  EXPECT_THROW(run_on_host({1, 32}, 0, diverge{true}), std::logic_error);
  EXPECT_THROW(run_on_host({1, 32}, 0, diverge{false}), std::logic_error);
}

/// Reads what another thread writes, without a barrier in between.
struct forget_barrier {
  struct shared {
    std::uint32_t x[64];
  };
  std::uint32_t* out;

  template <class Thread>
  void operator()(Thread& t) const {
    auto& x = t.template shared<shared>().x;
    x[t.thread()] = t.thread();
    out[t.thread()] = x[63 - t.thread()];
  }
};

TEST(host_grid, shows_a_barrier_that_is_missing) {
  std::vector<std::uint32_t> out(64), expected(64);
  std::iota(expected.rbegin(), expected.rend(), 0u);
  run_on_host({1, 64}, 3, forget_barrier{out.data()});
  EXPECT_NE(out, expected);
}

} // namespace
} // namespace gossamer::test
