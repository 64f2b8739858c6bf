// Marsit: one bit an element at every hop of an all-reduce, and a compensation that repays the error of the bits.
//
//   h_i = gamma_t u(grad F_i(x_t; xi_i,t)) + c_i,t
//   G   = (1/n) sum_i h_i,  c_i,t+1 = 0              in full rounds, t = 0, K, 2K, ...
//   G   = eta_s B,          c_i,t+1 = h_i - G        in all others; B_k is the sign of h_i,k for an i drawn uniformly
//   x_t+1 = prox(x_t - G)
//
// so that without prox x_t - (1/n) sum_i c_i,t moves exactly as under SGD. With E local steps a round, x_t - y_i takes
// the place of gamma_t u(...), for the y_i where worker i has got to (collectives/local_steps.hpp), which includes
// prox; K counts rounds, and K = 1 is local SGD. Wu, He, Guo, Qu, Wang, Zhuang, Zhang: Sign bit is enough: a learning
// synchronization framework for multi-hop all-reduce with ultimate compression, 2022, algorithms 1 and 2.
// collectives/one_bit_merge.hpp makes B, on a ring or a torus.
//
// The text is read as follows where it is unclear: m in the merge counts the workers merged so far, not the rank, or
// the mean would be wrong; K = infinity, here 0, is never full, not even at t = 0; momentum is the optimiser's, on each
// worker; the learning rate follows --schedule. The paper divides it by 10 at each full round: `rate-decay=0.1`.
//
// The text does not give eta_s. Unless set, it is 2.5 w in one-bit round s = 1, 2, ... since the last full one,
//
//   w = min(p, s^(1/2)) (1/n sum_i rms(gamma_t u_i,t)^2)^(1/2),   p = sum_k a_k / (sum_k a_k^2)^(1/2)
//
// where the optimiser makes u_t = sum_k a_k g_t-k; with E local steps, whose sum is longer by min(p, E^(1/2)) already,
// p is divided by that. The workers add up one number for it, beside the bits. The reasons:
//  * c_i - c_j is the sum of the differences of u_i and u_j in these s rounds, whatever eta_s. Where gradients differ
//    by noise, it is about w s^(1/2): p is 1 for sgd, and 4.4 for momentum and Adam of 0.9, whose noise comes again in
//    the next directions. s directions cannot add up to more than s of them.
//  * The sign of a number that is spread like that around a mean m is on average (2 / pi)^(1/2) m / (w s^(1/2)). So a
//    round repays the share 0.8 eta_s / (w s^(1/2)) of the mean compensation: x lags by
//    1.25 w s^(1/2) / eta_s rounds, and strays by the noise of the signs, about (eta_s w s^(1/2) / 1.6)^(1/2).
//  * So eta_s is a multiple of w. From 2.5 on, round 1 would take away more than twice the compensation. Momentum of
//    rate gamma gets the eta_s of sgd of rate gamma / (1 - beta): with unrelated gradients p rms(u) is the same.
//
// Measured with a perceptron on 800 drawn digits, 4 workers, 400 steps, K = 100: training loss, mean of 4 seeds, of
// 2.5 rms(u) / 2.5 w / all-reduce. sgd 0.1: 0.361 / 0.361 / 0.335. momentum 0.01: 0.619 / 0.476 / 0.350 (without p, at
// s = 99, c_i differed by 47 rms(u), so that x lagged by 25 rounds). adam 0.01: 0.849 / 0.329 / 0.014.
//
// Adam with K = 100 does not reach the loss of all-reduce, with any rule for eta_s that was tried (0.17 at best, one
// seed, with a rule that followed h and failed where workers' data differ): its directions stay as large where
// gradients are noise, and when gradients have become small. So its c_i differed by 0.04 to 0.08 in each weight before
// full rounds, those of sgd and momentum by 0.025, and x strays in proportion. eta_s does not influence c_i - c_j; K
// does: 25 leads to 0.044, 10 to 0.033.
//
// c_i - c_j is never reset if K = 0, so the signs say less and less of the present gradients, the sooner the more the
// workers' data differ.
//
// When a worker is lost, the survivors repeat the round with the same h_i and the same random numbers. Its compensation
// is lost: steps that it had computed and not seen applied. A worker that comes back begins with c = 0, and so does a
// worker that was a round behind and had to take over the state of another.
#include "gossamer/actors/algorithms/entries.hpp"
#include "gossamer/actors/collectives/dense_sum.hpp"
#include "gossamer/actors/collectives/local_steps.hpp"
#include "gossamer/actors/collectives/one_bit_merge.hpp"

#include <algorithm>
#include <cmath>

namespace gossamer::actors {

namespace {

class marsit final : public algorithm {
public:
  marsit(vec initial, const arguments& given)
      : x_(std::move(initial)), c_(zeros_like(x_)), period_(static_cast<std::uint64_t>(given.integer("period"))),
        given_rate_(given.real32("global-rate")), decay_(given.real32("rate-decay")), way_(collective_of(given)),
        rounds_(given) {}

  task<> run(worker& w) override {
    for (; co_await w.next_step(t_); ++t_) {
      if (rounds_.begins_at(t_))
        w.claim_equal("the model", t_, x_);
      const vec g = co_await w.start_gradient(x_, t_);
      const auto own = rounds_.went(w, x_, g, t_, share_of_rate());
      if (!own)
        continue;
      if (period_ > 0 && rounds_.round_of(t_) % period_ == 0)
        co_await full_round(w, *own);
      else
        co_await one_bit_round(w, own->step);
      if (rounds_.count() == 1)
        w.prox(x_, t_, share_of_rate());
    }
  }

  void fields(archive& a) override {
    a(x_)(c_)(t_);
    rounds_.fields(a);
  }
  std::uint64_t next_exchange(std::uint64_t t) const override { return rounds_.end_of_round(t); }
  void inherit(worker&) override {
    c_ = zeros_like(x_);
    rounds_.inherit(x_, t_);
  }
  vec residual() const override { return c_; }
  void take_over(const vec& residual) override { c_ += residual; }
  const vec& model() const override { return x_; }

private:
  /// Of the schedule: it falls at each full round after the first.
  float share_of_rate() const {
    const auto falls = period_ > 0 ? rounds_.round_of(t_) / period_ : 0;
    return decay_ == 1 ? 1 : static_cast<float>(std::pow(static_cast<double>(decay_), static_cast<double>(falls)));
  }

  /// With local steps the mean is over models and not over steps: without c the same bits as local SGD.
  task<> full_round(worker& w, const local_steps::way& own) {
    if (rounds_.count() == 1) {
      const vec h = own.step + c_;
      x_ -= co_await mean_of_all(w, h, way_, t_);
    } else {
      const vec corrected = own.end - c_;
      x_ = co_await mean_of_all(w, corrected, way_, t_);
    }
    c_ = 0.0f * x_;
  }

  task<> one_bit_round(worker& w, const vec& u) {
    const vec h = u + c_;
    auto pool = h.pool();
    const auto mine = static_cast<float>(w.coder().sum_of_squares(u) / static_cast<double>(u.size()));
    dense_sum squares{w, vec{pool, {&mine, 1}}};
    one_bit_merge signs{w, h, t_};
    reduction* const both[] = {&signs, &squares};
    co_await all_reduce(w, std::span{both}.first(given_rate_ > 0 ? 1 : 2), way_, t_);
    const auto usual = [&] { return std::sqrt(squares.sum()[0] / static_cast<float>(w.members().size())); };
    const vec G = (given_rate_ > 0 ? given_rate_ : 2.5f * lasting(w) * usual()) * signs.values();
    rounds_.go_back(x_);
    x_ -= G;
    c_ = h - G;
  }

  /// Ratio by which the steps of the rounds since the last full one, together, differ more than one alone.
  float lasting(const worker& w) const {
    const auto round = rounds_.round_of(t_);
    const auto rounds = static_cast<double>(period_ > 0 ? round % period_ : round + 1);
    const auto p = w.persistence();
    const auto within = std::min(p, std::sqrt(static_cast<double>(rounds_.count())));
    return static_cast<float>(std::min(p / within, std::sqrt(rounds)));
  }

  vec x_, c_;
  std::uint64_t t_ = 0;
  std::uint64_t period_;
  float given_rate_, decay_;
  route way_;
  local_steps rounds_;
};

} // namespace

algorithm_entry marsit_entry() {
  return {
      .about = {.name = "marsit",
                .summary = "one bit an element at every hop of an all-reduce, with compensation and rare full rounds",
                .maths =
                    "h_i = gamma_t u(grad F_i(x_t; xi_i,t)) + c_i,t\n"
                    "t mod K = 0: G = (1/n) sum_i h_i, c_i,t+1 = 0\n"
                    "else: G = eta_s B, c_i,t+1 = h_i - G, B_k = sign(h_i,k) of an i drawn uniformly for each k\n"
                    "x_t+1 = x_t - G; with E local steps, from x_t to y_i, t counts rounds, and x_t - y_i takes the "
                    "place of gamma_t u(...)",
                .reference = "Wu, He, Guo, Qu, Wang, Zhuang, Zhang: Sign bit is enough: a learning synchronization "
                             "framework for multi-hop all-reduce with ultimate compression, 2022, algorithms 1 and 2",
                .cost = "2(n-1) messages and 2(n-1)/n * d payload bits sent by each worker per round of E steps, 32 "
                        "times as many in "
                        "full rounds: 1 + 31/K bits an element and hop; 2(n-1) hops, on a torus 2(R+C-2). "
                        "global-rate=0: as many messages again, and 2(n-1)/n * 32 bits, in one-bit rounds",
                .parameters = with_collective(
                    {{.key = "period",
                      .kind = parameter::type::integer,
                      .fallback = "100",
                      .meaning = "K: every K-th round is full; 0: none",
                      .min = 0,
                      .max = 1e9},
                     {.key = "global-rate",
                      .fallback = "0",
                      .meaning = "eta_s, the size of a one-bit step; 0: 2.5 times the root mean square of what "
                                 "the optimisers make of this round's gradients, and with momentum as many times more "
                                 "as its directions add up to in the long run",
                      .min = 0,
                      .max = 1e6},
                     {.key = "rate-decay",
                      .fallback = "1",
                      .meaning = "factor of the learning rate at each full round but the first; the paper's is 0.1",
                      .min = 0,
                      .max = 1},
                     local_steps_parameter()})},
      .traits = {.exchange = exchange_pattern::all,
                 .synchronous = true,
                 .needs = codec_need::exact,
                 .default_optimiser = "sgd",
                 .on_loss = interrupted_round::repeat,
                 .promises = {.most_exchanges_apart = 1, .follows_mean_gradient = false}},
      .make = [](const algorithm_setup& s) -> std::unique_ptr<algorithm> {
        return std::make_unique<marsit>(s.initial, s.given);
      },
  };
}

} // namespace gossamer::actors
