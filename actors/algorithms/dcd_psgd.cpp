// DCD-PSGD: decentralised parallel SGD with compressed differences.
//
//   h       = W_ii x_i,t + sum over neighbours j of W_ij xh_j,t - gamma_t u(grad F_i(x_i,t; xi_i,t))
//   x_i,t+1 = x_i,t + C(h - x_i,t),   and the same C(h - x_i,t) is added to xh_i wherever it is held
//
// Tang, Gan, Zhang, Zhang, Liu: Communication compression for decentralized training, NeurIPS 2018, algorithm 1. The
// difference shrinks as training settles, and with it the noise of a codec that follows its range. The text has the
// receiver add C(z_i) to its replica of j; C(z_j) is meant.
//
// Theory asks for an unbiased codec whose relative error stays below (1 - rho) / (2 mu); in practice biased ones, such
// as top-k, work as well, so any codec may be used. Too coarse a codec diverges: random-p from about p = 0.4 down.
//
// A weight decay is a part of F_i, that is, of x_i,t. The proximal step is part of h, so that replicas stay equal to
// their owners' models.
//
// Lost workers: their weight goes to the worker's own model. Each view begins with an exchange of exact models
// (replicas.hpp), also for a worker that has come back with the state of another.
#include "gossamer/actors/algorithms/entries.hpp"
#include "gossamer/actors/collectives/replicas.hpp"

namespace gossamer::actors {

namespace {

class dcd_psgd final : public algorithm {
public:
  explicit dcd_psgd(vec initial) : models_(std::move(initial), replicas::add) {}

  task<> run(worker& w) override {
    for (; co_await w.next_step(t_); ++t_) {
      auto gradient = w.start_gradient(model(), t_);
      co_await models_.catch_up(w, model(), t_);
      vec h = models_.mix(w, model());
      const vec g = co_await gradient;
      w.update(h, g, t_, model());
      models_.publish(w, std::move(h) - model(), t_);
    }
  }

  void fields(archive& a) override {
    models_.fields(a);
    a(t_);
  }
  const vec& model() const override { return models_.own(); }

private:
  replicas models_;
  std::uint64_t t_ = 0;
};

} // namespace

algorithm_entry dcd_psgd_entry() {
  return {
      .about = {.name = "dcd-psgd",
                .summary = "synchronous gossip of compressed differences of models, which neighbours add up",
                .maths = "h = sum_j W_ij x_j,t - gamma_t u(grad F_i(x_i,t; xi_i,t))\n"
                         "x_i,t+1 = x_i,t + C(h - x_i,t), here and in every neighbour's replica of x_i",
                .reference = "Tang, Gan, Zhang, Zhang, Liu: Communication compression for decentralized training, "
                             "NeurIPS 2018, algorithm 1",
                .cost =
                    "deg(i) messages and deg(i) * bits(C) payload bits sent by worker i per step; deg(i) replicas of "
                    "memory; a step waits for the slowest neighbour only"},
      .traits = {.exchange = exchange_pattern::neighbours,
                 .synchronous = true,
                 .default_codec = "min-max:bits=8",
                 .promises = {.most_exchanges_apart = 2, .lossy_codecs_move_mean = true, .sgd_to_the_bit = false}},
      .make = [](const algorithm_setup& s) -> std::unique_ptr<algorithm> {
        return std::make_unique<dcd_psgd>(s.initial);
      },
  };
}

} // namespace gossamer::actors
