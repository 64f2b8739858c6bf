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
// eta_s is not printed. It must exceed nearly all |u_k|, or c grows until the next full round, and it may not be so
// large that x strays far from the path of SGD. Unless given, it is 2.5 (1/n sum_i rms(gamma_t u_i,t)^2)^(1/2) of the
// very round, so that it follows the optimiser (momentum grows over many steps, Adam shrinks) and the schedule; the
// workers add up one number for it, beside the bits.
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
      const vec u = w.direction(x_, g, t_);
      const vec h = u + c_;
      if (period_ > 0 && t_ % period_ == 0)
        co_await full_round(w, h);
      else
        co_await one_bit_round(w, h, w.coder().sum_of_squares(u) / static_cast<double>(u.size()));
      w.prox(x_, t_);
    }
  }

  void fields(archive& a) override { a(x_)(c_)(t_); }
  void inherit(worker&) override { c_ = 0.0f * x_; }
  const vec& model() const override { return x_; }

private:
  task<> full_round(worker& w, const vec& h) {
    x_ -= co_await mean_of_all(w, h, way_, t_);
    c_ = 0.0f * x_;
  }

  task<> one_bit_round(worker& w, const vec& h, double mean_square) {
    auto pool = h.pool();
    const auto mine = static_cast<float>(mean_square);
    dense_sum squares{w, vec{pool, {&mine, 1}}};
    one_bit_merge signs{w, h, t_};
    reduction* const both[] = {&signs, &squares};
    co_await all_reduce(w, std::span{both}.first(given_rate_ > 0 ? 1 : 2), way_, t_);
    const auto usual = [&] { return std::sqrt(squares.sum()[0] / static_cast<float>(w.members().size())); };
    const vec G = (given_rate_ > 0 ? given_rate_ : 2.5f * usual()) * signs.values();
    x_ -= G;
    c_ = h - G;
  }

  vec x_, c_;
  std::uint64_t t_ = 0;
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
                      "full rounds: 1 + 31/K bits an element and hop; 2(n-1) hops, on a torus 2(R+C-2). "
                      "global-rate=0: as many messages again, and 2(n-1)/n * 32 bits, in one-bit rounds",
              .parameters = with_collective(
                  {{.key = "period",
                    .kind = parameter::type::integer,
                    .fallback = "100",
                    .meaning = "K, in steps: every K-th round is full; 0: none",
                    .min = 0,
                    .max = 1e9},
                   {.key = "global-rate",
                    .fallback = "0",
                    .meaning = "eta_s, the size of a one-bit step; 0: 2.5 times the root mean square of what "
                               "the optimisers make of this round's gradients",
                    .min = 0,
                    .max = 1e6}})},
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
