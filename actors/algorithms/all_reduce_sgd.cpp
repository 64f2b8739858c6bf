// All-reduce SGD: synchronous data-parallel SGD, the baseline of all.
//
//   G_t     = (1/n) sum_i grad F_i(x_t; xi_i,t)
//   x_{t+1} = x_t - gamma_t u(G_t)
//
// The optimiser u gets G, so its state is the same everywhere; x is bit-identical on all workers.
//
// When a worker is lost, the survivors repeat the round with the gradients that they have: n is the number of members
// when the round succeeds.
#include "gossamer/actors/algorithms/entries.hpp"
#include "gossamer/actors/collectives/dense_sum.hpp"

namespace gossamer::actors {

namespace {

class all_reduce_sgd final : public algorithm {
public:
  all_reduce_sgd(vec initial, route way) : x_(std::move(initial)), way_(way) {}

  task<> run(worker& w) override {
    for (; co_await w.next_step(t_); ++t_) {
      w.claim_equal("the model", t_, x_);
      const vec g = co_await w.start_gradient(x_, t_);
      const vec mean = co_await mean_of_all(w, g, way_, t_);
      w.update(x_, mean, t_);
    }
  }

  void fields(archive& a) override { a(x_)(t_); }

  const vec& model() const override { return x_; }

private:
  vec x_;
  std::uint64_t t_ = 0;
  route way_;
};

} // namespace

algorithm_entry all_reduce_sgd_entry() {
  return {
      .about =
          {.name = "all-reduce-sgd",
           .summary = "synchronous SGD; gradients are averaged exactly by an all-reduce",
           .maths = "G_t = (1/n) sum_i grad F_i(x_t; xi_i,t)\nx_{t+1} = x_t - gamma_t u(G_t)",
           .reference = "Patarasu, Yuan: Bandwidth optimal all-reduce algorithms for clusters of workstations, 2009",
           .cost = "2(n-1) messages and 2(n-1)/n * 32d payload bits sent by each worker per step; every step waits for "
                   "the slowest worker and for 2(n-1) hops; on a torus of R rows and C columns the same bits in "
                   "2(R+C-2) hops, by halving with n = 2^k in 2k, and directly in 2",
           .parameters = with_collective()},
      .traits = {.exchange = exchange_pattern::all,
                 .synchronous = true,
                 .needs = codec_need::exact,
                 .on_loss = interrupted_round::repeat,
                 .promises = {.most_exchanges_apart = 1}},
      .make = [](const algorithm_setup& s) -> std::unique_ptr<algorithm> {
        return std::make_unique<all_reduce_sgd>(s.initial, collective_of(s.given));
      },
  };
}

} // namespace gossamer::actors
