// ECD-PSGD: decentralised parallel SGD with compressed extrapolations.
//
//   x_i,t+1  = sum_j W_ij xt_j,t - gamma_t u(grad F_i(x_i,t; xi_i,t)),   j = i included
//   z_i      = (1 - s/2) x_i,t + (s/2) x_i,t+1
//   xt_i,t+1 = (1 - 2/s) xt_i,t + (2/s) C(z_i),   wherever xt_i is held, with s = 2, 3, ...
//
// Tang, Gan, Zhang, Zhang, Liu: Communication compression for decentralized training, NeurIPS 2018, algorithm 2. The
// estimate xt_i of x_i is unbiased if C is, and its variance is at most that of C divided by the number of messages.
// The text counts steps from 1 and prints s = t where its formulas (3) and (4) need s = t + 1: with s = t the first
// transition would double the noise instead of halving it. Each message carries its s - 1, and is taken for that s
// only.
//
// A weight decay is a part of F_i, that is, of x_i,t.
//
// z grows with s, so the codec must follow its range. With few bits that loses more than it gains: at 4 bits ECD
// diverges where DCD learns. ECD is better where the error of C does not depend on z (fixed-grid).
//
// Two parameters are added: `refresh=R` exchanges exact models every R steps and starts with s = 2 again; `own=exact`
// puts the worker's own model in place of its estimate.
//
// Lost workers: their weight goes to the worker's own vector. Each view begins as a refresh does (replicas.hpp), also
// for a worker that has come back with the state of another.
#include "gossamer/actors/algorithms/entries.hpp"
#include "gossamer/actors/collectives/replicas.hpp"

namespace gossamer::actors {

namespace {

/// @param message number of the message since the estimate was exact, from 1
float coefficient(std::uint64_t message) { return static_cast<float>(message + 1); }

void follow(vec& estimate, const vec& q, std::uint64_t message) {
  const float s = coefficient(message);
  estimate *= 1 - 2 / s;
  estimate += 2 / s * q;
}

class ecd_psgd final : public algorithm {
public:
  ecd_psgd(const vec& initial, bool own_exact, std::uint64_t refresh)
      : x_(initial), estimates_(initial, follow, refresh), own_exact_(own_exact) {}

  task<> run(worker& w) override {
    for (; co_await w.next_step(t_); ++t_) {
      auto gradient = w.start_gradient(x_, t_);
      co_await estimates_.catch_up(w, x_, t_);
      vec next = estimates_.mix(w, own_exact_ ? x_ : estimates_.own());
      const vec g = co_await gradient;
      w.update(next, g, t_, x_);
      const float s = coefficient(estimates_.age(t_) + 1);
      estimates_.publish(w, vec{(1 - s / 2) * x_} + s / 2 * next, t_);
      x_ = std::move(next);
    }
  }

  void fields(archive& a) override {
    a(x_)(t_);
    estimates_.fields(a);
  }
  const vec& model() const override { return x_; }

private:
  vec x_;
  replicas estimates_;
  std::uint64_t t_ = 0;
  bool own_exact_;
};

} // namespace

algorithm_entry ecd_psgd_entry() {
  return {
      .about = {.name = "ecd-psgd",
                .summary = "synchronous gossip of compressed extrapolations, from which neighbours estimate the model",
                .maths = "x_i,t+1 = sum_j W_ij xt_j,t - gamma_t u(grad F_i(x_i,t; xi_i,t))\n"
                         "z = (1 - s/2) x_i,t + (s/2) x_i,t+1,   s = 2, 3, ...\n"
                         "xt_i,t+1 = (1 - 2/s) xt_i,t + (2/s) C(z)",
                .reference = "Tang, Gan, Zhang, Zhang, Liu: Communication compression for decentralized training, "
                             "NeurIPS 2018, algorithm 2",
                .cost = "deg(i) messages and deg(i) * bits(C) payload bits sent by worker i per step; deg(i) + 1 "
                        "estimates of memory; a step waits for the slowest neighbour only",
                .parameters = {{.key = "own",
                                .kind = parameter::type::choice,
                                .fallback = "estimate",
                                .meaning = "what a worker mixes for itself",
                                .choices = {"estimate", "exact"}},
                               {.key = "refresh",
                                .kind = parameter::type::integer,
                                .fallback = "0",
                                .meaning = "in steps: how often exact models are exchanged; 0: never",
                                .min = 0}}},
      .traits = {.exchange = exchange_pattern::neighbours,
                 .synchronous = true,
                 .needs = codec_need::unbiased,
                 .default_codec = "min-max:bits=8",
                 .promises = {.most_exchanges_apart = 2, .lossy_codecs_move_mean = true, .sgd_to_the_bit = false}},
      .make = [](const algorithm_setup& s) -> std::unique_ptr<algorithm> {
        return std::make_unique<ecd_psgd>(s.initial, s.given.is("own", "exact"),
                                          static_cast<std::uint64_t>(s.given.integer("refresh")));
      },
  };
}

} // namespace gossamer::actors
