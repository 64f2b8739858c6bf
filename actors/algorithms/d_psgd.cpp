// D-PSGD: decentralised parallel SGD.
//
//   x_i,t+1 = sum_j W_ij x_j,t - gamma_t u(grad F_i(x_i,t; xi_i,t))
//
// Lian, Zhang, Zhang, Hsieh, Zhang, Liu: Can decentralized algorithms outperform centralized algorithms?, NeurIPS 2017,
// algorithm 1. The gradient is computed while the models travel. With a lossy codec a neighbour's x_j becomes C(x_j):
// simple, and noisier the smaller gamma is, because the rounding enters the average with weight one.
//
// When a neighbour is lost, its model is replaced by the worker's own until all go over to the weights of the graph
// that remains; one that comes back starts from the model of a neighbour.
#include "gossamer/actors/algorithms/entries.hpp"
#include "gossamer/actors/collectives/neighbour_exchange.hpp"

namespace gossamer::actors {

namespace {

class d_psgd final : public algorithm {
public:
  explicit d_psgd(vec initial) : x_(std::move(initial)) {}

  // snippet run begin
  task<> run(worker& w) override {
    for (; co_await w.next_step(t_); ++t_) {
      auto gradient = w.start_gradient(x_, t_);
      vec mixed = co_await neighbour_exchange(w, x_, t_);
      const vec g = co_await gradient;
      x_ = std::move(mixed);
      w.update(x_, g, t_);
    }
  }
  // snippet run end

  void fields(archive& a) override { a(x_)(t_); }
  const vec& model() const override { return x_; }

private:
  vec x_;
  std::uint64_t t_ = 0;
};

} // namespace

const algorithm_entry d_psgd_entry{
    .about = {.name = "d-psgd",
              .summary = "synchronous gossip: every step averages the models of the neighbours",
              .maths = "x_i,t+1 = sum_j W_ij C(x_j,t) - gamma_t u(grad F_i(x_i,t; xi_i,t))",
              .reference = "Lian, Zhang, Zhang, Hsieh, Zhang, Liu: Can decentralized algorithms outperform centralized "
                           "algorithms? A case study for decentralized parallel SGD, NeurIPS 2017, algorithm 1",
              .cost =
                  "deg(i) messages and deg(i) * bits(C) payload bits sent by worker i per step; a step waits for the "
                  "slowest neighbour only"},
    .traits = {.exchange = exchange_pattern::neighbours, .synchronous = true, .most_steps_apart = 1},
    .make = [](const algorithm_setup& s) -> std::unique_ptr<algorithm> { return std::make_unique<d_psgd>(s.initial); },
};

} // namespace gossamer::actors
