#include <gtest/gtest.h>

#include "gossip_problem.hpp"

namespace gossamer::actors {
namespace {

using testing_support::quadratics;
using testing_support::runs;
using testing_support::tiny_world;

constexpr std::size_t size = 41, workers = 4;
constexpr std::uint64_t warm_up = 12;
constexpr double lr = 0.01;
using numbers = std::vector<double>;

/// 1-bit Adam in plain loops.
class plain_loops {
public:
  void step(std::uint64_t t, const std::vector<numbers>& gradients) {
    if (t < warm_up) {
      const auto g = mean(gradients);
      for (std::size_t k = 0; k < size; ++k) {
        m_[k] = 0.9 * m_[k] + 0.1 * g[k];
        v_[k] = 0.999 * v_[k] + 0.001 * g[k] * g[k];
      }
    } else {
      exchange(gradients);
    }
    for (std::size_t k = 0; k < size; ++k)
      x[k] -= lr * m_[k] / (std::sqrt(v_[k]) + 1e-8);
  }

  numbers x = numbers(size);

private:
  static numbers mean(const std::vector<numbers>& all) {
    numbers result(size);
    for (const auto& one : all)
      for (std::size_t k = 0; k < size; ++k)
        result[k] += one[k] / workers;
    return result;
  }
  static double edge(std::size_t j) { return std::floor(static_cast<double>(j * size) / workers); }

  /// b, less what its signs and mean magnitude say of each segment.
  static numbers lost(const numbers& b, std::size_t only = workers) {
    numbers rest = b;
    for (std::size_t j = 0; j < workers; ++j) {
      if (only != workers && only != j)
        continue;
      const auto begin = static_cast<std::size_t>(edge(j)), end = static_cast<std::size_t>(edge(j + 1));
      double scale = 0;
      for (std::size_t k = begin; k < end; ++k)
        scale += std::abs(b[k]) / static_cast<double>(end - begin);
      for (std::size_t k = begin; k < end; ++k)
        rest[k] -= b[k] < 0 ? -scale : scale;
    }
    return rest;
  }

  void exchange(const std::vector<numbers>& gradients) {
    std::vector<numbers> sent;
    for (std::size_t i = 0; i < workers; ++i) {
      numbers b(size);
      for (std::size_t k = 0; k < size; ++k)
        b[k] = 0.9 * m_[k] + 0.1 * gradients[i][k] + e_[i][k];
      e_[i] = lost(b);
      for (std::size_t k = 0; k < size; ++k)
        b[k] -= e_[i][k];
      sent.push_back(b);
    }
    m_ = mean(sent);
    for (std::size_t k = 0; k < size; ++k)
      m_[k] += f_[k];
    f_ = lost(m_);
    for (std::size_t k = 0; k < size; ++k)
      m_[k] -= f_[k];
  }

  numbers m_ = numbers(size), v_ = numbers(size), f_ = numbers(size);
  std::vector<numbers> e_ = std::vector<numbers>(workers, numbers(size));
};

tiny_world::options options(std::uint64_t steps) {
  return {.codec = "scaled-sign", .workers = workers, .steps = steps, .lr = lr};
}

TEST(one_bit_adam, does_what_plain_loops_do) {
  constexpr std::uint64_t steps = 30; // later a sign flips that hangs on the last bit of a float
  quadratics p{workers, size, 0.3f};
  tiny_world world{options(steps), runs("one-bit-adam:warm-up=12", p.start()), p.gradients()};
  ASSERT_TRUE(world.run());
  plain_loops reference;
  for (std::uint64_t t = 0; t < steps; ++t) {
    std::vector<numbers> gradients;
    for (std::size_t i = 0; i < workers; ++i) {
      const auto g = p.gradient(i, t, std::vector<float>(reference.x.begin(), reference.x.end()));
      gradients.emplace_back(g.begin(), g.end());
    }
    reference.step(t, gradients);
  }
  for (rank i = 0; i < workers; ++i)
    for (std::size_t k = 0; k < size; ++k)
      ASSERT_NEAR(world.model(i)[k], reference.x[k], 1e-4) << "worker " << i << ", element " << k;
}

TEST(one_bit_adam, sends_one_bit_an_element_behind_the_warm_up) {
  quadratics p{workers, size};
  std::uint64_t sent[2];
  for (const std::uint64_t more : {0u, 1u}) {
    tiny_world world{options(warm_up + more), runs("one-bit-adam:warm-up=12", p.start()), p.gradients()};
    ASSERT_TRUE(world.run());
    sent[more] = 0;
    for (rank i = 0; i < workers; ++i)
      sent[more] += world.sent(i).payload_bits;
  }
  EXPECT_EQ(sent[0], warm_up * 2 * (workers - 1) * 32 * size);
  EXPECT_EQ(sent[1] - sent[0], 2 * (workers - 1) * (size + 32 * workers));
}

// Their variance is 0, so that a sign would move them by the rate over epsilon.
TEST(one_bit_adam, leaves_elements_without_gradients_where_they_are_and_sends_nothing_for_them) {
  constexpr std::size_t still = 17;
  quadratics p{workers, size, 0.3f};
  const auto gradient = [&, of = p.gradients()](rank i, std::uint64_t t, const vec& x) {
    vec g = of(i, t, x);
    std::ranges::fill(g.mutate().subspan(size - still), 0.0f);
    return g;
  };
  std::uint64_t sent[2];
  for (const std::uint64_t more : {0u, 8u}) {
    tiny_world world{options(warm_up + more), runs("one-bit-adam:warm-up=12", p.start()), gradient};
    ASSERT_TRUE(world.run());
    sent[more / 8] = world.sent(0).payload_bits;
    for (std::size_t k = 0; k < size; ++k)
      EXPECT_EQ(world.model(0)[k] == 0, k >= size - still) << k;
  }
  // worker 0 sends the segments of others, and its mean to them
  EXPECT_EQ(sent[1] - sent[0], 8 * ((size - still) / workers * 2 * (workers - 1) + 2 * (workers - 1) * 32));
}

TEST(one_bit_adam, alone_is_adam_with_variances_as_they_are) {
  quadratics p{1, size};
  auto o = options(200);
  o.workers = 1;
  tiny_world world{o, runs("one-bit-adam:warm-up=12", p.start()), p.gradients()};
  ASSERT_TRUE(world.run());
  EXPECT_EQ(world.sent(0).payload_bits, 0u);
  const auto x = world.model(0).view();
  EXPECT_LT(p.gap({x.begin(), x.end()}), 0.05 * p.gap(std::vector<double>(size)));
}

} // namespace
} // namespace gossamer::actors
