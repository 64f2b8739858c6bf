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
constexpr double lr = 0.01, decay = 0.5;
const std::string few_steps = "zero-one-adam:warm-up=12,variance-updates=2,double-after=6,max-period=4";

// Written down by hand: v is learnt at 0 and 1, at 2 and 4, at 6 and 10. k is 1 for six steps, 2 for six, then 4.
bool learns(std::uint64_t t) { return t <= 2 || t == 4 || t == 6 || t == 10; }
bool exchanges(std::uint64_t t) { return t < 18 || t == 19 || t == 21 || t == 23 || t == 27 || t == 31 || t == 35; }

/// An element of each segment has no gradient at first: it begins to move when errors are kept already.
bool is_still(std::size_t k, std::uint64_t t) { return k % 10 == 3 && t < 7; }

/// 0/1 Adam in plain loops.
class plain_loops {
public:
  void step(std::uint64_t t, std::vector<numbers> gradients) {
    if (t < warm_up)
      together(t, gradients);
    else
      alone(t, gradients);
  }

  std::vector<numbers> x = std::vector<numbers>(workers, numbers(size));

private:
  void together(std::uint64_t t, const std::vector<numbers>& gradients) {
    const numbers g = learns(t) ? mean_of(gradients) : mean_(gradients);
    for (std::size_t k = 0; k < size; ++k) {
      m_[0][k] = 0.9 * m_[0][k] + 0.1 * g[k];
      v_[k] = learns(t) ? 0.999 * v_[k] + 0.001 * g[k] * g[k] : v_[k];
    }
    std::vector<std::size_t> moving;
    for (std::size_t k = 0; k < size; ++k)
      if (v_[k] > 0)
        moving.push_back(k);
    mean_.move_only(moving);
    y_ = at(m_[0], lr);
    x.assign(workers, y_);
    m_.assign(workers, m_[0]);
    if (t + 1 == warm_up)
      mean_.forget();
  }
  void alone(std::uint64_t t, const std::vector<numbers>& gradients) {
    rates_ += lr;
    for (std::size_t i = 0; i < workers; ++i) {
      for (std::size_t k = 0; k < size; ++k) {
        m_[i][k] = 0.9 * m_[i][k] + 0.1 * gradients[i][k];
        u_[i][k] += lr * m_[i][k];
      }
      x[i] = at(u_[i], 1);
    }
    if (!exchanges(t))
      return;
    const auto u = mean_(u_);
    y_ = at(u, 1);
    x.assign(workers, y_);
    for (std::size_t k = 0; k < size; ++k)
      for (auto& m : m_)
        m[k] = u[k] / rates_;
    u_.assign(workers, numbers(size));
    rates_ = 0;
  }
  /// y, moved by `rate` times this momentum.
  numbers at(const numbers& m, double rate) const {
    numbers result = y_;
    for (std::size_t k = 0; k < size; ++k)
      result[k] -=
          (v_[k] > 0 ? rate * m[k] / (std::sqrt(v_[k]) + 1e-5) : 0) + (rates_ > 0 ? rates_ : rate) * decay * y_[k];
    return result;
  }

  numbers y_ = numbers(size), v_ = y_;
  std::vector<numbers> m_ = x, u_ = x;
  double rates_ = 0;
  dense_sign_mean mean_{workers, size};
};

tiny_world::options options(std::uint64_t steps) {
  return {.codec = "scaled-sign", .workers = workers, .steps = steps, .lr = lr};
}

TEST(zero_one_adam, does_what_plain_loops_do) {
  constexpr std::uint64_t steps = 36;
  quadratics p{workers, size, 0.3f};
  const auto gradient = [&](std::size_t i, std::uint64_t t, std::span<const float> x) {
    auto g = p.gradient(i, t, x);
    for (std::size_t k = 0; k < size; ++k)
      g[k] = is_still(k, t) ? 0 : g[k];
    return g;
  };
  buffer_pool pool;
  for (const std::uint64_t until : {warm_up, steps - 2, steps}) {
    tiny_world world{options(until), runs(few_steps + ",weight-decay=0.5", p.start()),
                     [&](rank i, std::uint64_t t, const vec& x) {
                       return vec{pool, gradient(i, t, x.view())};
                     }};
    ASSERT_TRUE(world.run());
    plain_loops reference;
    for (std::uint64_t t = 0; t < until; ++t) {
      std::vector<numbers> gradients;
      for (std::size_t i = 0; i < workers; ++i) {
        const auto g = gradient(i, t, std::vector<float>(reference.x[i].begin(), reference.x[i].end()));
        gradients.emplace_back(g.begin(), g.end());
      }
      reference.step(t, gradients);
    }
    for (rank i = 0; i < workers; ++i)
      for (std::size_t k = 0; k < size; ++k)
        ASSERT_NEAR(world.model(i)[k], reference.x[i][k], 1e-4) << until << ", worker " << i << ", element " << k;
  }
}

TEST(zero_one_adam, with_a_period_of_one_and_exact_means_is_one_bit_adam) {
  quadratics p{workers, size, 0.3f};
  tiny_world some{options(30), runs("zero-one-adam:warm-up=12,max-period=1,epsilon=1e-8", p.start()), p.gradients()};
  tiny_world one_bit{options(30), runs("one-bit-adam:warm-up=12", p.start()), p.gradients()};
  ASSERT_TRUE(some.run() && one_bit.run());
  for (std::size_t k = 0; k < size; ++k)
    EXPECT_NEAR(some.model(0)[k], one_bit.model(0)[k], 1e-4) << k;
}

TEST(zero_one_adam, sends_numbers_to_learn_one_bit_an_element_otherwise_and_nothing_alone) {
  quadratics p{workers, size};
  std::uint64_t before = 0;
  for (std::uint64_t t = 0; t < 36; ++t) {
    tiny_world world{options(t + 1), runs(few_steps, p.start()), p.gradients()};
    ASSERT_TRUE(world.run());
    std::uint64_t sent = 0;
    for (rank i = 0; i < workers; ++i)
      sent += world.sent(i).payload_bits;
    const std::uint64_t whole = 2 * (workers - 1) * 32 * size, bits = 2 * (workers - 1) * (size + 32 * workers);
    const bool exact = t < warm_up && learns(t);
    EXPECT_EQ(sent - before, exact ? whole : exchanges(t) ? bits : 0) << "step " << t;
    before = sent;
  }
}

TEST(zero_one_adam, has_equal_models_after_an_exchange_and_only_then) {
  quadratics p{workers, size, 0.3f};
  for (std::uint64_t steps = 1; steps <= 36; ++steps) {
    tiny_world world{options(steps), runs(few_steps, p.start()), p.gradients()};
    ASSERT_TRUE(world.run());
    for (rank i = 1; i < workers; ++i)
      EXPECT_EQ(squared_distance(world.model(i).view(), world.model(0).view()) == 0, exchanges(steps - 1)) << steps;
  }
}

// Their variance is 0, so that a sign would move them by the rate over epsilon.
TEST(zero_one_adam, leaves_elements_without_gradients_where_they_are) {
  quadratics p{workers, size, 0.3f};
  tiny_world world{options(36), runs(few_steps, p.start()),
                   [&, of = p.gradients()](rank i, std::uint64_t t, const vec& x) {
                     vec g = of(i, t, x);
                     std::ranges::fill(g.mutate().subspan(size - 17), 0.0f);
                     return g;
                   }};
  ASSERT_TRUE(world.run());
  for (std::size_t k = 0; k < size; ++k)
    EXPECT_EQ(world.model(0)[k] == 0, k >= size - 17) << k;
}

// Where the schedule ends in a rate of 0, the mean momentum of a round is 0 / 0.
TEST(zero_one_adam, stands_still_at_a_rate_of_zero) {
  quadratics p{workers, size, 0.3f};
  auto o = options(36);
  o.lr = 0;
  tiny_world world{o, runs(few_steps, p.start()), p.gradients()};
  ASSERT_TRUE(world.run());
  for (std::size_t k = 0; k < size; ++k)
    EXPECT_EQ(world.model(0)[k], 0);
}

TEST(zero_one_adam, alone_is_adam_with_few_variances) { testing_support::expect_to_learn_alone(few_steps); }

} // namespace
} // namespace gossamer::actors
