// 1-bit Adam: Adam with exact means first; then with the variances as they are, and momenta whose signs are averaged.
//
//   for T_w steps   G = (1/n) sum_i g_i,  m <- beta1 m + (1 - beta1) G,  v <- beta2 v + (1 - beta2) G^2
//   then            m <- mean of C(beta1 m + (1 - beta1) g_i), with error feedback at both ends (packed_mean.hpp)
//   x <- x - gamma_t (m / (sqrt(v) + epsilon) + lambda x),   g_i = grad F_i(x; xi_i,t)
//
// Tang, Gan, Awan, Rajbhandari, Li, Lian, Liu, Zhang, He: 1-bit Adam: communication efficient large-scale training with
// Adam's convergence speed, ICML 2021, algorithm 1. one_bit_moments.hpp says what differs from the authors' code.
//
// A codec must lose less than it gets. When a worker is lost, the others repeat the round; its error is lost with it,
// but a worker that leaves hands it over. One that comes back has the model, m and v of another, and no error.
#include "gossamer/actors/algorithms/entries.hpp"
#include "gossamer/actors/algorithms/one_bit_moments.hpp"
#include "gossamer/actors/collectives/dense_sum.hpp"

namespace gossamer::actors {

namespace {

class one_bit_adam final : public algorithm {
public:
  explicit one_bit_adam(const algorithm_setup& s)
      : x_(s.initial), moments_(s), warm_up_(static_cast<std::uint64_t>(s.given.integer("warm-up"))) {}

  task<> run(worker& w) override {
    for (; co_await w.next_step(t_); ++t_) {
      w.claim_equal("the model", t_, x_);
      const vec g = co_await w.start_gradient(x_, t_);
      if (t_ < warm_up_)
        moments_.learn(co_await mean_of_all(w, g, route::ring, t_));
      else
        moments_.m = co_await moments_.lossy_mean(w, moments_.momentum(g), t_);
      moments_.move(x_, moments_.m, w.learning_rate(t_));
    }
  }

  const vec& model() const override { return x_; }
  void fields(archive& a) override {
    a(x_)(t_);
    moments_.fields(a);
  }
  void inherit(worker&) override { moments_.forget_errors(); }
  vec residual() const override { return moments_.residual(); }
  void take_over(const vec& residual) override { moments_.take_over(residual); }

private:
  vec x_;
  std::uint64_t t_ = 0;
  one_bit_moments moments_;
  std::uint64_t warm_up_; ///< T_w
};

} // namespace

algorithm_entry one_bit_adam_entry() {
  return {
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
                .parameters = with_one_bit_moments({})},
      .traits = traits_of_one_bit_moments(),
      .make = [](const algorithm_setup& s) -> std::unique_ptr<algorithm> { return std::make_unique<one_bit_adam>(s); },
      .packs_parts = [](const arguments&) { return true; },
  };
}

} // namespace gossamer::actors
