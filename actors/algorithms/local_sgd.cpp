// Local SGD: H steps alone, then the models are averaged.
//
//   x_i,t+1 = x_i,t - gamma_t u_i(grad F_i(x_i,t; xi_i,t))
//   after every H steps    x_i = (1/n) sum_j x_j
//   in an island I         x_i = (1/|I|) sum_{j in I} x_j  after the other steps
//
// Stich: Local SGD converges fast and communicates little, ICLR 2019. The state of the optimiser is each worker's own
// and is not averaged.
//
// Between averages workers run freely. When a worker is lost, its steps since the last average are lost with it; the
// others keep theirs and average among themselves. A worker that comes back begins with the model of another.
//
// With --islands it is hierarchical local SGD (Lin, Stich, Patel, Jaggi: Don't use large mini-batches, use local SGD,
// ICLR 2020, section 5). Islands may be up to H steps apart; when a worker is lost or comes, those behind take the
// state of the furthest.
#include "gossamer/actors/algorithms/entries.hpp"
#include "gossamer/actors/collectives/island_mean.hpp"
#include "gossamer/actors/collectives/step_rounds.hpp"

namespace gossamer::actors {

namespace {

class local_sgd final : public algorithm {
public:
  local_sgd(vec initial, step_rounds rounds, route way) : x_(std::move(initial)), rounds_(rounds), way_(way) {}

  task<> run(worker& w) override {
    for (; co_await w.next_step(t_); ++t_) {
      if (rounds_.begin_at(t_))
        w.claim_equal("the average", t_, x_);
      const vec g = co_await w.start_gradient(x_, t_);
      vec moved = x_;
      w.update(moved, g, t_);
      if (rounds_.end_after(t_))
        x_ = co_await mean_over_islands(w, moved, t_, exact_mean(way_));
      else
        x_ = co_await mean_of_island(w, moved, t_);
      w.claim_conserved("the sum of the models", t_, moved, x_);
    }
  }

  const vec& model() const override { return x_; }
  void fields(archive& a) override { a(x_)(t_); }
  std::uint64_t next_exchange(std::uint64_t t) const override { return rounds_.last_of(t); }

private:
  vec x_;
  std::uint64_t t_ = 0;
  step_rounds rounds_;
  route way_;
};

} // namespace

algorithm_entry local_sgd_entry() {
  return {
      .about =
          {.name = "local-sgd",
           .summary = "SGD on each worker alone; models are averaged every so many steps",
           .maths = "x_i <- x_i - gamma_t u_i(grad F_i(x_i; xi_i,t));  if (t + 1) mod H = 0: x_i <- (1/n) sum_j x_j\n"
                    "otherwise, in an island I: x_i <- (1/|I|) sum_{j in I} x_j",
           .reference = "Stich: Local SGD converges fast and communicates little, ICLR 2019",
           .cost =
               "every H steps 2(n-1) messages and 2(n-1)/n * 32d payload bits sent by each worker; between "
               "averages nobody waits for anybody; with islands also 2(m-1)/m * 32d in each step within an island of m",
           .parameters = with_ring_or_direct({{.key = "period",
                                               .kind = parameter::type::integer,
                                               .fallback = "8",
                                               .meaning = "H, in steps",
                                               .min = 1}})},
      .traits = {.exchange = exchange_pattern::all,
                 .synchronous = true,
                 .in_islands = true,
                 .needs = codec_need::exact,
                 .on_loss = interrupted_round::repeat,
                 .promises = {.most_exchanges_apart = 1}},
      .make = [](const algorithm_setup& s) -> std::unique_ptr<algorithm> {
        const step_rounds rounds{static_cast<std::uint64_t>(s.given.integer("period"))};
        return std::make_unique<local_sgd>(s.initial, rounds, ring_or_direct(s.given));
      },
  };
}

} // namespace gossamer::actors
