// 1-bit Adam: Adam with exact means first; then with the variances as they are, and momenta whose signs are averaged.
//
//   for T_w steps   G = (1/n) sum_i g_i,  m <- beta1 m + (1 - beta1) G,  v <- beta2 v + (1 - beta2) G^2
//   then            m <- mean of C(beta1 m + (1 - beta1) g_i), with error feedback at both ends (packed_mean.hpp)
//   x <- x - gamma_t (m / (sqrt(v) + epsilon) + lambda x),   g_i = grad F_i(x; xi_i,t)
//
// Tang, Gan, Awan, Rajbhandari, Li, Lian, Liu, Zhang, He: 1-bit Adam: communication efficient large-scale training with
// Adam's convergence speed, ICML 2021, algorithm 1. There is no bias correction, as in the authors' code.
//
// Where v = 0 after the warm-up, as for a pixel that no picture has, a sign would be a step of gamma s / epsilon. Such
// elements move by their decay alone, and nothing is sent for them. (The authors' code asks its user for a mask.) A
// bucket's scale here is |b|_1 / d, with which a code of signs loses least; theirs is |b|_2 / sqrt(d).
//
// A codec must lose less than it gets. When a worker is lost, the others repeat the round; its error is lost with it,
// but a worker that leaves hands it over. One that comes back has the model, m and v of another, and no error.
#include "gossamer/actors/algorithms/decoupled_decay.hpp"
#include "gossamer/actors/algorithms/entries.hpp"
#include "gossamer/actors/collectives/dense_sum.hpp"
#include "gossamer/actors/collectives/packed_mean.hpp"
#include "gossamer/base/work.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace gossamer::actors {

namespace {

class one_bit_adam final : public algorithm {
public:
  explicit one_bit_adam(const algorithm_setup& s)
      : x_(s.initial), m_(zeros_like(x_)), v_(m_), warm_up_(static_cast<std::uint64_t>(s.given.integer("warm-up"))),
        beta1_(s.given.real32("beta1")), beta2_(s.given.real32("beta2")), epsilon_(s.given.real32("epsilon")),
        decay_(s.given.real32("weight-decay")) {}

  task<> run(worker& w) override {
    for (; co_await w.next_step(t_); ++t_) {
      w.claim_equal("the model", t_, x_);
      const vec g = co_await w.start_gradient(x_, t_);
      if (t_ < warm_up_) {
        const vec mean = co_await mean_of_all(w, g, route::ring, t_);
        m_ = momentum(mean);
        learn_variances(mean);
      } else {
        const vec own = compact(momentum(g));
        const vec mean = co_await mean_.of_all(w, own, t_);
        spread(m_, mean);
      }
      step(w.learning_rate(t_));
    }
  }

  const vec& model() const override { return x_; }
  void fields(archive& a) override {
    a(x_)(m_)(v_)(t_);
    mean_.fields(a);
  }
  void inherit(worker&) override { mean_.forget(); }
  vec residual() const override {
    vec e = zeros_like(x_);
    if (const vec kept = mean_.residual(); !kept.empty())
      spread(e, kept);
    return e;
  }
  void take_over(const vec& residual) override { mean_.take_over(compact(residual)); }

private:
  /// beta1 m + (1 - beta1) g
  vec momentum(const vec& g) const { return beta1_ * m_ + (1 - beta1_) * g; }

  void learn_variances(const vec& g) {
    const auto v = v_.mutate();
    for (std::size_t k = 0; k < v.size(); ++k)
      v[k] = beta2_ * v[k] + (1 - beta2_) * (g[k] * g[k]);
  }

  void step(float lr) {
    const auto x = x_.mutate();
    const auto m = m_.view(), v = v_.view();
    GOSSAMER_ASSERT(m.size() == x.size() && v.size() == x.size(), "the moments are of one model");
    for (std::size_t k = 0; k < x.size(); ++k)
      x[k] -= lr * ((v[k] > 0 ? m[k] / (std::sqrt(v[k]) + epsilon_) : 0) + decay_ * x[k]);
    count_arithmetic(4 * sizeof(float) * x.size());
  }

  /// The elements that move: those with v > 0, one after the other.
  vec compact(const vec& of) const {
    std::vector<float> chosen;
    chosen.reserve(of.size());
    const auto v = v_.view(), all = of.view();
    GOSSAMER_ASSERT(v.size() == all.size(), "the moments are of one model");
    for (std::size_t k = 0; k < v.size(); ++k)
      if (v[k] > 0)
        chosen.push_back(all[k]);
    auto pool = of.pool();
    return {pool, chosen};
  }
  /// The inverse of `compact`; other elements stay.
  void spread(vec& into, const vec& chosen) const {
    const auto v = v_.view(), from = chosen.view();
    const auto all = into.mutate();
    GOSSAMER_ASSERT(std::cmp_equal(std::ranges::count_if(v, [](float x) { return x > 0; }), from.size()),
                    "compact vectors have an element for each v > 0");
    for (std::size_t k = 0, next = 0; k < v.size(); ++k)
      if (v[k] > 0)
        all[k] = from[next++];
  }

  vec x_, m_, v_;
  std::uint64_t t_ = 0;
  fed_back_mean mean_;
  std::uint64_t warm_up_; ///< T_w
  float beta1_, beta2_, epsilon_, decay_;
};

std::vector<parameter> parameters() {
  auto all = compute::parameters_of_moments();
  all.insert(all.begin(), {.key = "warm-up",
                           .kind = parameter::type::integer,
                           .fallback = "100",
                           .meaning = "T_w, in steps of each worker; a sixth to a quarter of the run is usual",
                           .min = 1});
  all.push_back(decoupled_decay());
  return all;
}

} // namespace

const algorithm_entry one_bit_adam_entry{
    .about = {.name = "one-bit-adam",
              .summary = "Adam with exact means first, then with one bit an element and the variances as they are",
              .maths =
                  "T_w steps: G = (1/n) sum_i g_i,  m <- beta1 m + (1 - beta1) G,  v <- beta2 v + (1 - beta2) G^2\n"
                  "then: m <- mean of C(beta1 m + (1 - beta1) g_i), errors kept at workers and owners of segments\n"
                  "x <- x - gamma_t (m / (sqrt(v) + epsilon) + lambda x)",
              .reference =
                  "Tang, Gan, Awan, Rajbhandari, Li, Lian, Liu, Zhang, He: 1-bit Adam: communication efficient "
                  "large-scale training with Adam's convergence speed, ICML 2021, algorithm 1",
              .cost =
                  "2(n-1) messages sent by each worker per step, with 2(n-1)/n * 32d payload bits in the warm-up and "
                  "2(n-1)/n * bits(C) of the elements that move afterwards; four more vectors of memory",
              .parameters = parameters()},
    .traits = {.exchange = exchange_pattern::all,
               .synchronous = true,
               .takes_direction = false,
               .own_optimiser = true,
               .default_codec = "scaled-sign",
               .default_optimiser = "sgd",
               .default_lr = 0.001,
               .lr_grows = false,
               .on_loss = interrupted_round::repeat,
               .promises = {.most_steps_apart = 1,
                            .lossy_codecs_move_mean = true,
                            .follows_mean_gradient = false,
                            .sgd_alone = false}},
    .make = [](const algorithm_setup& s) -> std::unique_ptr<algorithm> { return std::make_unique<one_bit_adam>(s); },
};

} // namespace gossamer::actors
