// Laws of the papers' formulas, checked on plain loops in double precision: rounding is 1e-16, so a law holds to 1e-10
// or not at all. Other tests compare actors with the loops, to the precision of floats.
#include <gmock/gmock.h>

#include <cmath>

#include "dense_cser.hpp"
#include "dense_gossip.hpp"

namespace gossamer::testing_support {
namespace {

using numbers = std::vector<double>;
using exact_gossip = basic_dense_gossip<double>;

constexpr std::size_t workers = 5, size = 7;
constexpr std::uint64_t steps = 200;
constexpr double lr = 0.1, precision = 1e-10;

/// Returns the gradient of (1/4) sum_k h_k (x_k - c_ik)^4, with noise. Nothing about it is linear.
numbers gradient(std::size_t i, std::uint64_t t, const numbers& x) {
  random_sequence centre{{9, static_cast<std::uint32_t>(i), purpose::synthetic}, 0},
      noise{{9, static_cast<std::uint32_t>(i), purpose::data}, t};
  numbers g(x.size());
  for (std::size_t k = 0; k < g.size(); ++k)
    g[k] = (0.3 + 0.1 * static_cast<double>(k)) * std::pow(x[k] - centre.normal(), 3) + 0.1 * noise.normal();
  return g;
}

exact_gossip start() { return {workers, numbers(size), lr, "identity", gradient}; }

numbers mean(const exact_gossip& g) {
  numbers m(size);
  for (std::size_t i = 0; i < workers; ++i)
    for (std::size_t k = 0; k < size; ++k)
      m[k] += g.model(i)[k] / workers;
  return m;
}

double distance(const numbers& a, const numbers& b) {
  double most = 0;
  for (std::size_t k = 0; k < a.size(); ++k)
    most = std::max(most, std::abs(a[k] - b[k]));
  return most;
}

// W is doubly stochastic, so sum_i x_i,t+1 = sum_i x_i,t - gamma sum_i g_i(x_i,t).
TEST(dense_d_psgd, moves_the_mean_of_the_models_by_the_mean_gradient) {
  auto gossip = start();
  for (std::uint64_t t = 0; t < steps; ++t) {
    auto expected = mean(gossip);
    for (std::size_t i = 0; i < workers; ++i) {
      const auto g = gradient(i, t, gossip.model(i));
      for (std::size_t k = 0; k < size; ++k)
        expected[k] -= lr * g[k] / workers;
    }
    gossip.d_psgd(t);
    ASSERT_LT(distance(mean(gossip), expected), precision) << "step " << t;
  }
  EXPECT_GT(distance(gossip.model(0), gossip.model(2)), 1e-3); // the models differ, so the law is not trivial
}

TEST(dense_dcd_and_ecd, are_d_psgd_when_nothing_is_lost) {
  auto gossip = start(), dcd = start(), ecd = start(), refreshed = start(), naive = start();
  for (std::uint64_t t = 0; t < steps; ++t) {
    gossip.d_psgd(t);
    dcd.dcd(t);
    ecd.ecd(t);
    refreshed.ecd(t, 9);
    naive.naive(t);
    for (std::size_t i = 0; i < workers; ++i)
      for (const auto* other : {&dcd, &ecd, &refreshed, &naive})
        ASSERT_LT(distance(other->model(i), gossip.model(i)), precision) << "step " << t << ", worker " << i;
  }
}

// The lost parts of updates are in e_i and in x_i alike, so x_i - e_i is the same for all workers.
TEST(dense_cser, keeps_models_less_their_errors_equal_and_their_sum_that_of_sgd) {
  for (const char* c1 : {"grbs:ratio=2,blocks=4", "top-k:k=2"})
    for (const char* c2 : {"none", "grbs:ratio=4,blocks=4", "random-k:k=2,scale=none"}) {
      const auto first = dense_cser::make(c1), second = dense_cser::make(c2);
      dense_cser d{workers, size, lr, 0.9, gradient};
      for (std::uint64_t t = 0; t < steps; ++t) {
        d.cser(t, first, second, 8);
        for (std::size_t i = 1; i < workers; ++i)
          for (std::size_t k = 0; k < size; ++k)
            ASSERT_NEAR(d.x[i][k] - d.e[i][k], d.x[0][k] - d.e[0][k], precision) << c1 << ", " << c2 << ", step " << t;
      }
    }
}

} // namespace
} // namespace gossamer::testing_support
