// 0/1 Adam: 1-bit Adam whose warm-up is lossy, too, and whose workers then take steps alone.
//
//   for T_w steps   at some   G = (1/n) sum_i g_i,   m <- beta1 m + (1 - beta1) G,  v <- beta2 v + (1 - beta2) G^2
//                   at others G = mean of C(g_i),    m <- beta1 m + (1 - beta1) G
//                   x <- x - gamma_t (m / (sqrt(v) + epsilon) + lambda x)
//   then            m_i <- beta1 m_i + (1 - beta1) g_i,   u_i <- u_i + gamma_t m_i,   Gamma <- Gamma + gamma_t
//                   x_i = y - u_i / (sqrt(v) + epsilon) - Gamma lambda y
//   every k steps   u <- mean of C(u_i),   m_i <- u / Gamma,   y <- x_i of this u,   u_i <- 0,  Gamma <- 0
//
// g_i = grad F_i(x_i; xi_i,t), y is the model that all have in common, and means of C have error feedback at both ends
// (packed_mean.hpp). The steps that learn v are 1 apart at first, and twice as far apart after each kappa of them. k is
// 1 at first, and doubles every D steps up to H. With k = 1 the local steps are those of 1-bit Adam.
//
// Lu, Li, Zhang, De Sa, He: Maximizing communication efficiency for large-scale training via 0/1 Adam, ICLR 2023,
// algorithm 1, with the phases of the authors' code, which learns no v once workers take steps alone. Two points
// differ. The code's u holds the decay, so that m does, too, after an exchange; here it is apart. And it goes back to y
// by undoing its steps, which leaves workers apart by rounding; here y is kept. one_bit_moments.hpp has the others.
// Errors are of gradients first and of u later: what is kept at the end of the warm-up is given up, as in the code.
//
// A sign moves an element as far as the mean magnitude of all does, divided by the element's own sqrt(v), and after k
// steps k times as far. Where gradients are rare, sqrt(v) is small: with an epsilon of 1e-8, as in the paper, MNIST's
// border pixels run away. That is why it is 1e-5 here.
//
// A codec must lose less than it gets. When a worker is lost, the others repeat the round; its error and its steps
// since the last round are lost with it, but a worker that leaves hands its error over. One that comes back begins at y
// with the v and m of another, u = 0 and no error.
#include "gossamer/actors/algorithms/entries.hpp"
#include "gossamer/actors/algorithms/one_bit_moments.hpp"
#include "gossamer/actors/collectives/dense_sum.hpp"

#include <algorithm>
#include <bit>

namespace gossamer::actors {

namespace {

/// The steps that learn v, and those that exchange something.
struct schedule_of_rounds {
  std::uint64_t warm_up, updates, doubling, longest; ///< T_w, kappa, D, H

  explicit schedule_of_rounds(const arguments& given) {
    const auto number = [&](const char* key) { return static_cast<std::uint64_t>(given.integer(key)); };
    warm_up = number("warm-up");
    updates = number("variance-updates");
    doubling = number("double-after");
    longest = number("max-period");
  }

  bool learns(std::uint64_t t) const {
    const auto gap = std::bit_floor(t / updates + 1);
    return (t - updates * (gap - 1)) % gap == 0;
  }
  /// k, after the warm-up
  std::uint64_t period(std::uint64_t t) const {
    const auto doublings = std::min<std::uint64_t>((t - warm_up) / doubling, 63);
    return std::min(std::uint64_t{1} << doublings, longest);
  }
  bool exchanges(std::uint64_t t) const { return t < warm_up || (t + 1 - warm_up) % period(t) == 0; }
  bool begins_together(std::uint64_t t) const { return t == 0 || exchanges(t - 1); }
};

class zero_one_adam final : public algorithm {
public:
  explicit zero_one_adam(const algorithm_setup& s) : x_(s.initial), y_(x_), moments_(s), when_(s.given) {}

  task<> run(worker& w) override {
    for (; co_await w.next_step(t_); ++t_) {
      if (when_.begins_together(t_))
        w.claim_equal("the model", t_, x_);
      const vec g = co_await w.start_gradient(x_, t_);
      if (t_ < when_.warm_up)
        co_await warm_up(w, g);
      else
        co_await step_alone(w, g);
    }
  }

  const vec& model() const override { return x_; }
  void fields(archive& a) override {
    a(x_)(y_)(u_)(t_);
    moments_.fields(a);
  }
  void inherit(worker&) override {
    x_ = y_;
    u_ = {};
    moments_.forget_errors();
  }
  vec residual() const override { return moments_.residual(); }
  void take_over(const vec& residual) override { moments_.take_over(residual); }
  std::uint64_t next_exchange(std::uint64_t t) const override {
    while (!when_.exchanges(t))
      ++t;
    return t;
  }

private:
  task<> warm_up(worker& w, const vec& g) {
    if (when_.learns(t_))
      moments_.learn(co_await mean_of_all(w, g, route::ring, t_));
    else
      moments_.m = moments_.momentum(co_await moments_.lossy_mean(w, g, t_));
    moments_.move(x_, moments_.m, w.learning_rate(t_));
    y_ = x_;
    if (t_ + 1 == when_.warm_up)
      moments_.forget_errors();
  }

  task<> step_alone(worker& w, const vec& g) {
    vec m = moments_.momentum(g), u = w.learning_rate(t_) * m;
    if (!u_.empty())
      u += u_;
    if (!when_.exchanges(t_)) {
      x_ = moved(u, rates_of_round(w));
      moments_.m = std::move(m);
      u_ = std::move(u);
      co_return;
    }
    m = {};
    u = co_await moments_.lossy_mean(w, std::move(u), t_);
    const double rates = rates_of_round(w);
    x_ = y_ = moved(u, rates);
    if (rates > 0)
      moments_.m = static_cast<float>(1 / rates) * u;
    u_ = {};
  }

  /// Gamma, the same on all workers when a round ends. No sum of the rates that were taken: before a worker comes, the
  /// others count its steps by another view than it does.
  double rates_of_round(const worker& w) const {
    auto first = t_;
    while (!when_.begins_together(first))
      --first;
    double sum = 0;
    for (auto s = first; s <= t_; ++s)
      sum += static_cast<double>(w.learning_rate(s));
    return sum;
  }

  /// The model at the end of the steps that u and Gamma sum up. At the end of a schedule Gamma may be 0.
  vec moved(const vec& u, double rates) const {
    vec x = y_;
    if (rates > 0)
      moments_.move(x, static_cast<float>(1 / rates) * u, static_cast<float>(rates));
    return x;
  }

  vec x_, y_;
  vec u_; ///< empty: 0
  std::uint64_t t_ = 0;
  one_bit_moments moments_;
  schedule_of_rounds when_;
};

} // namespace

algorithm_entry zero_one_adam_entry() {
  return {
      .about = {.name = "zero-one-adam",
                .summary = "1-bit Adam with few exact means in its warm-up, and steps alone behind it",
                .maths =
                    "T_w steps: G = (1/n) sum_i g_i, v <- beta2 v + (1 - beta2) G^2, or G = mean of C(g_i)\n"
                    "           m <- beta1 m + (1 - beta1) G,  x <- x - gamma_t (m / (sqrt(v) + epsilon) + lambda x)\n"
                    "then: m_i <- beta1 m_i + (1 - beta1) g_i,  u_i <- u_i + gamma_t m_i,  Gamma <- Gamma + gamma_t\n"
                    "      x_i = y - u_i / (sqrt(v) + epsilon) - Gamma lambda y\n"
                    "every k steps: u <- mean of C(u_i), m_i <- u / Gamma, y <- x_i of it, u_i <- 0, Gamma <- 0",
                .reference =
                    "Lu, Li, Zhang, De Sa, He: Maximizing communication efficiency for large-scale training via "
                    "0/1 Adam, ICLR 2023, algorithm 1",
                .cost =
                    "2(n-1) messages sent by each worker per step that exchanges: 2(n-1)/n * 32d payload bits in one "
                    "that learns v, 2(n-1)/n * bits(C) of the elements that move in others; six more vectors of "
                    "memory; between exchanges nobody waits for anybody",
                .parameters = with_one_bit_moments(
                    {{.key = "variance-updates",
                      .kind = parameter::type::integer,
                      .fallback = "16",
                      .meaning = "kappa: after so many steps that learn v, their distance doubles; in the paper 16",
                      .min = 1},
                     {.key = "double-after",
                      .kind = parameter::type::integer,
                      .fallback = "100",
                      .meaning = "D: behind the warm-up k doubles after so many steps; in the paper 32678",
                      .min = 1},
                     {.key = "max-period",
                      .kind = parameter::type::integer,
                      .fallback = "4",
                      .meaning = "H, the largest k; in the paper 16",
                      .min = 1,
                      .max = 65536}},
                    "1e-5")},
      .traits = traits_of_one_bit_moments(),
      .make = [](const algorithm_setup& s) -> std::unique_ptr<algorithm> { return std::make_unique<zero_one_adam>(s); },
      .packs_parts = [](const arguments&) { return true; },
  };
}

} // namespace gossamer::actors
