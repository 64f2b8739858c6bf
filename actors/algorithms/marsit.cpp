// Marsit: one bit an element at every hop of an all-reduce, and a compensation that repays what the bits leave out.
//
//   h_i = gamma_t u(grad F_i(x_t; xi_i,t)) + c_i,t
//   G   = (1/n) sum_i h_i,  c_i,t+1 = 0              in full rounds, t = 0, K, 2K, ...
//   G   = eta_s B,          c_i,t+1 = h_i - G        in all others; B_k is the sign of h_i,k for an i drawn uniformly
//   x_t+1 = prox(x_t - G)
//
// so that without prox x_t - (1/n) sum_i c_i,t moves exactly as under SGD. Wu, He, Guo, Qu, Wang, Zhuang, Zhang: Sign
// bit is enough: a learning synchronization framework for multi-hop all-reduce with ultimate compression, 2022,
// algorithms 1 and 2. B is what collectives/one_bit_merge.hpp makes, on a ring or a torus.
//
// Where the text leaves open what is meant: m in the merge counts the workers merged so far, not the rank, or the mean
// would be wrong; K = infinity, here 0, is never full, not even at t = 0; momentum is the optimiser's, on each worker;
// the learning rate follows --schedule.
//
// eta_s is not printed. It must exceed the usual |u_k|, or c grows until the next full round. Unless given, it is
// 2 rms(G) of the first full round, and follows gamma_t from then on. Without full rounds nobody sees the mean; then it
// is 2 (1/n sum_i rms(h_i)^2)^(1/2) of the first round, for which the workers add up one number.
//
// c_i - c_j is the sum of all that u_i and u_j have differed by since the last full round, and nothing else sets it
// back. So with K = 0 the signs say less and less of the present gradients, the sooner the more the workers' data
// differ.
//
// When a worker is lost, the survivors repeat the round with the same h_i and the same random numbers. Its compensation
// is lost: steps that it had computed and not seen applied. One that comes back begins with c = 0, and so does one that
// was a round behind and had to take over the state of another.
#include "gossamer/actors/algorithms/entries.hpp"
#include "gossamer/actors/collectives/dense_sum.hpp"
#include "gossamer/actors/collectives/one_bit_merge.hpp"

#include <cmath>

namespace gossamer::actors {

namespace {

class marsit final : public algorithm {
public:
  marsit(vec initial, const arguments& given)
      : x_(std::move(initial)), c_(0.0f * x_), period_(static_cast<std::uint64_t>(given.integer("period"))),
        given_rate_(given.real32("global-rate")), way_(collective_of(given)) {}

  task<> run(worker& w) override {
    for (; co_await w.next_step(t_); ++t_) {
      w.claim_equal("the model", t_, x_);
      const vec g = co_await w.start_gradient(x_, t_);
      const vec h = w.direction(x_, g, t_) + c_;
      if (period_ > 0 && t_ % period_ == 0)
        co_await full_round(w, h);
      else
        co_await one_bit_round(w, h);
      w.prox(x_, t_);
    }
  }

  void fields(archive& a) override { a(x_)(c_)(t_)(measured_); }
  void inherit(worker&) override { c_ = 0.0f * x_; }
  const vec& model() const override { return x_; }

private:
  task<> full_round(worker& w, const vec& h) {
    const vec G = co_await mean_of_all(w, h, way_, t_);
    measure(w, mean_square(G));
    x_ -= G;
    c_ = 0.0f * x_;
  }

  task<> one_bit_round(worker& w, const vec& h) {
    const bool first = period_ == 0 && unknown_rate();
    const auto mine = first ? static_cast<float>(mean_square(h)) : 0.0f;
    auto pool = h.pool();
    dense_sum squares{w, vec{pool, {&mine, 1}}};
    one_bit_merge signs{w, h, t_};
    reduction* const both[] = {&signs, &squares};
    co_await all_reduce(w, std::span{both}.first(first ? 2 : 1), way_, t_);
    if (first)
      measure(w, static_cast<double>(squares.sum()[0]) / static_cast<double>(w.members().size()));
    const vec G = global_rate(w) * signs.values();
    x_ -= G;
    c_ = h - G;
  }

  static double mean_square(const vec& v) { return sum_of_squares(v.view()) / static_cast<double>(v.size()); }

  /// Until something has moved, too.
  bool unknown_rate() const { return given_rate_ == 0 && measured_ == 0; }
  void measure(const worker& w, double square) {
    if (unknown_rate() && w.learning_rate(t_) > 0)
      measured_ = 2 * std::sqrt(square) / static_cast<double>(w.learning_rate(t_));
  }
  float global_rate(const worker& w) const {
    return given_rate_ > 0 ? given_rate_ : static_cast<float>(measured_ * static_cast<double>(w.learning_rate(t_)));
  }

  vec x_, c_;
  std::uint64_t t_ = 0;
  double measured_ = 0; ///< eta_s / gamma_t; 0: not yet
  std::uint64_t period_;
  float given_rate_;
  route way_;
};

} // namespace

const algorithm_entry marsit_entry{
    .about = {.name = "marsit",
              .summary = "one bit an element at every hop of an all-reduce, with compensation and rare full rounds",
              .maths = "h_i = gamma_t u(grad F_i(x_t; xi_i,t)) + c_i,t\n"
                       "t mod K = 0: G = (1/n) sum_i h_i, c_i,t+1 = 0\n"
                       "else: G = eta_s B, c_i,t+1 = h_i - G, B_k = sign(h_i,k) of an i drawn uniformly for each k\n"
                       "x_t+1 = x_t - G",
              .reference = "Wu, He, Guo, Qu, Wang, Zhuang, Zhang: Sign bit is enough: a learning synchronization "
                           "framework for multi-hop all-reduce with ultimate compression, 2022, algorithms 1 and 2",
              .cost = "2(n-1) messages and 2(n-1)/n * d payload bits sent by each worker per step, 32 times as many in "
                      "full rounds: 1 + 31/K bits an element and hop; 2(n-1) hops, on a torus 2(R+C-2)",
              .parameters = {{.key = "period",
                              .kind = parameter::type::integer,
                              .fallback = "100",
                              .meaning = "K, in steps: every K-th round is full; 0: none",
                              .min = 0,
                              .max = 1e9},
                             {.key = "global-rate",
                              .fallback = "0",
                              .meaning = "eta_s, the size of a one-bit step; 0: twice the usual size of a step of SGD, "
                                         "measured in the first round and in proportion to the learning rate",
                              .min = 0,
                              .max = 1e6},
                             collective_parameter()}},
    .traits = {.exchange = exchange_pattern::all,
               .synchronous = true,
               .needs = codec_need::exact,
               .default_optimiser = "sgd",
               .on_loss = interrupted_round::repeat,
               .most_steps_apart = 1,
               .follows_mean_gradient = false},
    .make = [](const algorithm_setup& s) -> std::unique_ptr<algorithm> {
      return std::make_unique<marsit>(s.initial, s.given);
    },
};

} // namespace gossamer::actors
