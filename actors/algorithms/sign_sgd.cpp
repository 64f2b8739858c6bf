// Sign SGD with majority vote, and Signum.
//
//   m_i,t+1 = beta m_i,t + (1 - beta) d_i,t                   d_i,t = u(grad F_i(x_t; xi_i,t)), or of E local steps
//                                                             their sum (collectives/local_steps.hpp)
//   V_t     = sign(sum_i sign(m_i,t+1))                       0 counts as +1, among signs and in the vote
//   x_t+1   = prox(x_t - gamma_t V_t)
//
// Bernstein, Wang, Azizzadenesheli, Anandkumar: signSGD: compressed optimisation for non-convex problems, ICML 2018,
// algorithms 1 (beta = 0), 2 (Signum) and 3 (majority vote). Bernstein, Zhao, Azizzadenesheli, Anandkumar: signSGD with
// majority vote is communication efficient and fault tolerant, ICLR 2019.
//
// Two points differ. No server counts the votes: they are added on an all-reduce, whose messages grow with the number
// of votes in them, and the outcome travels back in one bit an element. And the vote is on the optimiser's direction,
// so that a weight decay or a momentum of --optimiser counts; signs do not feel gamma_t.
//
// When a worker is lost, the survivors repeat the vote among themselves; its momentum is lost. A worker that comes back
// takes over the momentum of the worker that gives it the model.
#include "gossamer/actors/algorithms/entries.hpp"
#include "gossamer/actors/collectives/local_steps.hpp"
#include "gossamer/actors/collectives/sign_sum.hpp"

namespace gossamer::actors {

namespace {

class sign_sgd final : public algorithm {
public:
  sign_sgd(vec initial, const arguments& given)
      : x_(std::move(initial)), m_(zeros_like(x_)), beta_(given.real32("beta")), way_(collective_of(given)),
        code_(coding_of(given)), rounds_(given) {}

  task<> run(worker& w) override {
    for (; co_await w.next_step(t_); ++t_) {
      if (rounds_.begins_at(t_))
        w.claim_equal("the model", t_, x_);
      const vec g = co_await w.start_gradient(x_, t_);
      auto d = rounds_.direction(w, x_, g, t_);
      if (!d)
        continue;
      vec m = std::move(*d);
      m = beta_ * m_ + (1 - beta_) * m;
      sign_majority vote{w, m, code_};
      co_await all_reduce(w, vote, way_, t_);
      m_ = std::move(m);
      rounds_.go_back(x_);
      x_ -= w.learning_rate(t_) * vote.values();
      w.prox(x_, t_);
    }
  }

  void fields(archive& a) override {
    a(x_)(m_)(t_);
    rounds_.fields(a);
  }
  void inherit(worker&) override { rounds_.inherit(x_, t_); }
  std::uint64_t next_exchange(std::uint64_t t) const override { return rounds_.end_of_round(t); }
  const vec& model() const override { return x_; }

private:
  vec x_, m_;
  std::uint64_t t_ = 0;
  float beta_;
  route way_;
  compress::sign_sum_code code_;
  local_steps rounds_;
};

} // namespace

algorithm_entry sign_sgd_entry() {
  return {
      .about = {.name = "sign-sgd",
                .summary = "workers vote on the sign of each step; the majority wins",
                .maths = "m_i,t+1 = beta m_i,t + (1 - beta) u(grad F_i(x_t; xi_i,t))\n"
                         "x_t+1 = x_t - gamma_t sign(sum_i sign(m_i,t+1)), where 0 counts as +1",
                .reference = "Bernstein, Wang, Azizzadenesheli, Anandkumar: signSGD: compressed optimisation for "
                             "non-convex problems, ICML 2018, algorithms 2 and 3",
                .cost =
                    "2(n-1) messages; (n-1)/n * d payload bits for the outcome and, for the votes, ceil(log2(k+1)) * "
                    "d/n for each k = 1 .. n-1, sent by each worker per round of E steps; on a ring 2(n-1) hops",
                .parameters = with_collective({{.key = "beta",
                                                .fallback = "0",
                                                .meaning = "of the momentum that a worker votes with (Signum); 0: none",
                                                .min = 0,
                                                .max = 0.9999},
                                               coding_parameter(),
                                               local_steps_parameter()})},
      .traits = {.exchange = exchange_pattern::all,
                 .synchronous = true,
                 .takes_direction = false,
                 .needs = codec_need::exact,
                 .default_optimiser = "sgd",
                 .default_lr = 0.002,
                 .on_loss = interrupted_round::repeat,
                 .promises = {.most_exchanges_apart = 1, .follows_mean_gradient = false}},
      .make = [](const algorithm_setup& s) -> std::unique_ptr<algorithm> {
        return std::make_unique<sign_sgd>(s.initial, s.given);
      },
  };
}

} // namespace gossamer::actors
