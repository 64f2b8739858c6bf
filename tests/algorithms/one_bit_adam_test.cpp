#include "dense_sign_mean.hpp"

namespace gossamer::actors {
namespace {

using testing_support::dense_sign_mean;
using testing_support::mean_of;
using testing_support::numbers;
using testing_support::quadratics;
using testing_support::runs;
using testing_support::tiny_world;

constexpr std::size_t size = 41, workers = 4;
constexpr std::uint64_t warm_up = 12;
constexpr double lr = 0.01;

/// 1-bit Adam in plain loops.
class plain_loops {
public:
  void step(std::uint64_t t, const std::vector<numbers>& gradients) {
    if (t < warm_up) {
      const auto g = mean_of(gradients);
      m_ = momentum(g);
      for (std::size_t k = 0; k < size; ++k)
        v_[k] = 0.999 * v_[k] + 0.001 * g[k] * g[k];
    } else {
      std::vector<numbers> momenta;
      for (const auto& g : gradients)
        momenta.push_back(momentum(g));
      m_ = mean_(momenta);
    }
    for (std::size_t k = 0; k < size; ++k)
      x[k] -= lr * m_[k] / (std::sqrt(v_[k]) + 1e-8);
  }

  numbers x = numbers(size);

private:
  numbers momentum(const numbers& g) const {
    numbers result(size);
    for (std::size_t k = 0; k < size; ++k)
      result[k] = 0.9 * m_[k] + 0.1 * g[k];
    return result;
  }

  numbers m_ = numbers(size), v_ = numbers(size);
  dense_sign_mean mean_{workers, size};
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
  testing_support::expect_to_learn_alone("one-bit-adam:warm-up=12");
}

} // namespace
} // namespace gossamer::actors
