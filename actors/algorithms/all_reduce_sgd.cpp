// All-reduce SGD: synchronous data-parallel SGD, the baseline of all.
//
//   G_t     = (1/n) sum_i grad F_i(x_t; xi_i,t)
//   x_{t+1} = x_t - gamma_t u(G_t)
//
// u is the optimiser, fed with G, so that its state is the same everywhere; x is bit-identical on all workers.
#include "gossamer/actors/algorithms/entries.hpp"
#include "gossamer/actors/collectives/ring_all_reduce.hpp"

namespace gossamer::actors {

namespace {

class all_reduce_sgd final : public algorithm {
public:
  explicit all_reduce_sgd(vec initial) : x_(std::move(initial)) {}

  task<> run(worker& w) override {
    for (; co_await w.next_step(t_); ++t_) {
      vec g = co_await w.start_gradient(x_, t_);
      co_await ring_all_reduce(w, g, t_);
      g *= 1.0f / static_cast<float>(w.workers());
      w.update(x_, g, t_);
    }
  }

  const vec& model() const override { return x_; }

private:
  vec x_;
  std::uint64_t t_ = 0;
};

} // namespace

const algorithm_entry all_reduce_sgd_entry{
    .about = {.name = "all-reduce-sgd",
              .summary = "synchronous SGD; gradients are averaged exactly by a ring all-reduce",
              .maths = "G_t = (1/n) sum_i grad F_i(x_t; xi_i,t)\nx_{t+1} = x_t - gamma_t u(G_t)",
              .reference = "Patarasu, Yuan: Bandwidth optimal all-reduce algorithms for clusters of workstations, 2009",
              .cost =
                  "2(n-1) messages and 2(n-1)/n * 32d payload bits sent by each worker per step; every step waits for "
                  "the slowest worker and for 2(n-1) hops"},
    .traits = {.exchange = exchange_pattern::all, .synchronous = true, .needs_exact_codec = true},
    .make = [](const arguments&, vec initial) -> std::unique_ptr<algorithm> {
      return std::make_unique<all_reduce_sgd>(std::move(initial));
    },
};

} // namespace gossamer::actors
