// D-PSGD: decentralised parallel SGD.
//
//   combine-then-adapt  x_i,t+1 = sum_j W_ij x_j,t - gamma_t u(grad F_i(x_i,t; xi_i,t))
//   adapt-then-combine  x_i,t+1 = sum_j W_ij (x_j,t - gamma_t u(grad F_j(x_j,t; xi_j,t)))
//
// Lian, Zhang, Zhang, Hsieh, Zhang, Liu: Can decentralized algorithms outperform centralized algorithms?, NeurIPS 2017,
// algorithm 1, has the first order, in which the gradient is computed while the models travel. On a complete graph the
// second one is plain parallel SGD.
//
// A weight decay is a part of F_i: in the first order, too, it applies to x_i,t, and not to the mixed model.
//
// A lossy codec turns a neighbour's x_j into C(x_j): simple, and noisier the smaller gamma is, because the rounding
// enters the average with weight one. `naive-d-psgd` is this algorithm as the literature on compressed gossip knows it:
// by default each worker mixes C(x_i), not x_i, for itself as well. It is here for comparison (dcd_psgd.cpp).
//
// With --islands workers of an island share every step, and W is that of the graph of islands, whose heads exchange
// models; they must all be the island's before, as in the first order (neighbour_exchange.hpp, island_mean.hpp).
//
// A worker uses its own model in place of a lost neighbour's, until all workers go over to the weights of the remaining
// graph. A worker that comes back starts from the model of a neighbour.
#include "gossamer/actors/algorithms/entries.hpp"
#include "gossamer/actors/collectives/island_mean.hpp"
#include "gossamer/actors/collectives/neighbour_exchange.hpp"

namespace gossamer::actors {

namespace {

class d_psgd final : public algorithm {
public:
  d_psgd(vec initial, bool adapts_first, own_term own)
      : x_(std::move(initial)), adapts_first_(adapts_first), own_(own) {}

  task<> run(worker& w) override { return adapts_first_ ? adapt_then_combine(w) : combine_then_adapt(w); }
  void fields(archive& a) override { a(x_)(t_); }
  const vec& model() const override { return x_; }

private:
  // snippet run begin
  task<> combine_then_adapt(worker& w) {
    for (; co_await w.next_step(t_); ++t_) {
      auto gradient = w.start_gradient(x_, t_);
      vec mixed = co_await neighbour_exchange(w, x_, t_, own_);
      const vec g = co_await gradient;
      w.update(mixed, g, t_, x_);
      x_ = (co_await average_on_island(w, std::move(mixed), t_)).mean;
    }
  }
  // snippet run end

  task<> adapt_then_combine(worker& w) {
    if (w.islands().are_shared())
      throw error(errc::usage,
                  "d-psgd is given --islands and order=adapt-then-combine, in which heads would exchange "
                  "models that their islands do not share",
                  "leave one out");
    for (; co_await w.next_step(t_); ++t_) {
      const vec g = co_await w.start_gradient(x_, t_);
      vec adapted = x_;
      w.update(adapted, g, t_);
      x_ = co_await neighbour_exchange(w, adapted, t_, own_);
    }
  }

  vec x_;
  std::uint64_t t_ = 0;
  bool adapts_first_;
  own_term own_;
};

constexpr const char* gossip_cost =
    "deg(i) messages and deg(i) * bits(C) payload bits sent by worker i per step; a step waits for the slowest "
    "neighbour only";

} // namespace

algorithm_entry d_psgd_entry() {
  return {
      .about = {.name = "d-psgd",
                .summary = "synchronous gossip: every step averages the models of the neighbours",
                .maths = "x_i,t+1 = sum_j W_ij C(x_j,t) - gamma_t u(grad F_i(x_i,t; xi_i,t))\n"
                         "then, in an island I: x_i <- (1/|I|) sum_{j in I} x_j",
                .reference =
                    "Lian, Zhang, Zhang, Hsieh, Zhang, Liu: Can decentralized algorithms outperform centralized "
                    "algorithms? A case study for decentralized parallel SGD, NeurIPS 2017, algorithm 1",
                .cost = gossip_cost,
                .parameters = {{.key = "order",
                                .kind = parameter::type::choice,
                                .fallback = "combine-then-adapt",
                                .meaning = "whether models are averaged before the gradient is applied, or after",
                                .choices = {"combine-then-adapt", "adapt-then-combine"}}}},
      .traits = {.exchange = exchange_pattern::neighbours,
                 .synchronous = true,
                 .in_islands = true,
                 .promises = {.most_exchanges_apart = 1, .lossy_codecs_move_mean = true}},
      .make = [](const algorithm_setup& s) -> std::unique_ptr<algorithm> {
        return std::make_unique<d_psgd>(s.initial, s.given.is("order", "adapt-then-combine"), own_term::exact);
      },
  };
}

algorithm_entry naive_d_psgd_entry() {
  return {
      .about = {.name = "naive-d-psgd",
                .summary =
                    "D-PSGD with compressed models, the baseline that fails: noise does not shrink with the rate",
                .maths = "x_i,t+1 = sum_j W_ij C(x_j,t) - gamma_t u(grad F_i(x_i,t; xi_i,t)),   j = i included",
                .reference = "Tang, Gan, Zhang, Zhang, Liu: Communication compression for decentralized training, "
                             "NeurIPS 2018, section 3",
                .cost = gossip_cost,
                .parameters = {{.key = "own",
                                .kind = parameter::type::choice,
                                .fallback = "compressed",
                                .meaning = "what a worker mixes for itself",
                                .choices = {"compressed", "exact"}}}},
      .traits = {.exchange = exchange_pattern::neighbours,
                 .synchronous = true,
                 .default_codec = "min-max:bits=8",
                 .promises = {.most_exchanges_apart = 1, .lossy_codecs_move_mean = true}},
      .make = [](const algorithm_setup& s) -> std::unique_ptr<algorithm> {
        return std::make_unique<d_psgd>(s.initial, false,
                                        s.given.is("own", "exact") ? own_term::exact : own_term::compressed);
      },
  };
}

} // namespace gossamer::actors
