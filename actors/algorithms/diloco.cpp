// DiLoCo: H steps of each worker alone, then an outer optimiser takes the mean distance that they have moved for a
// gradient. With outer=slowmo it is SlowMo, with outer=average and outer-lr=1 local SGD.
//
//   every step        x_i <- x_i - gamma_t u_i(grad F_i(x_i; xi_i,t))
//   after H steps     Delta = (1/n) sum_i (theta - x_i);   u <- mu u + Delta;   theta <- theta - eta (Delta + mu u)
//                     x_i <- theta
//   in an island I    x_i <- (1/|I|) sum_{j in I} x_j  after the other steps
//
// Douillard, Feng, Rusu, Chhaparia, Donchev, Kuncoro, Ranzato, Szlam, Shen: DiLoCo: distributed low-communication
// training of language models, 2023, algorithm 1. SlowMo: Wang, Tantia, Ballas, Rabbat: SlowMo: improving
// communication-efficient distributed SGD with slow momentum, ICLR 2020. The optimiser u_i is each worker's own; its
// state outlives outer steps and is not averaged. Schedules count inner steps.
//
// With an exact codec the models are averaged, not their distances: for eta = 1 and mu = 0 an outer step is then the
// mean to the bit. Any other codec packs the distances theta - x_i, twice on their way, always directly
// (packed_mean.hpp).
//
// theta and u are the same on all workers. When a worker is lost, its steps since the last exchange are lost with it,
// and Delta is the mean over the others: n counts the members when the round succeeds. One that leaves hands its move
// to another, which adds it to its own (untold_move.hpp). A worker that comes back begins at theta, with the state of
// u; a round takes it as it is, though it may have done fewer steps than the others.
//
// With drop=P the move of a worker is lost in a round with probability P, as over links that repeat nothing; Gossamer's
// links repeat all. Delta is then the mean over the moves that arrive, and there is no outer step if none does. A
// worker whose move is lost goes on from its own x_i, as in the paper, but hears of theta. All draw the same numbers,
// and what is lost costs bits as a move of 0 does.
//
// With --islands workers of an island share every step, and islands take part in outer steps as one each
// (island_mean.hpp). Islands may be up to H steps apart; when a worker is lost or comes, those behind take the state of
// the furthest.
#include "gossamer/actors/algorithms/entries.hpp"
#include "gossamer/actors/collectives/island_mean.hpp"
#include "gossamer/actors/collectives/outer_step.hpp"
#include "gossamer/actors/collectives/packed_mean.hpp"
#include "gossamer/actors/collectives/step_rounds.hpp"
#include "gossamer/actors/collectives/untold_move.hpp"
#include "gossamer/base/error.hpp"

#include <algorithm>
#include <optional>

namespace gossamer::actors {

namespace {

class diloco final : public untold_move {
public:
  explicit diloco(const algorithm_setup& s)
      : theta_(s.initial), x_(s.initial),
        outer_(s.given, s.initial), rounds_{static_cast<std::uint64_t>(s.given.integer("period"))},
        drop_(s.given.real32("drop")), way_(ring_or_direct(s.given)) {}

  task<> run(worker& w) override {
    if (drop_ > 0 && w.islands().are_shared())
      throw error(errc::usage, "diloco is given drop and --islands, whose workers move together", "leave one out");
    for (; co_await w.next_step(t_); ++t_) {
      w.claim_equal("the outer model", t_, theta_);
      const vec g = co_await w.start_gradient(x_, t_);
      vec moved = x_;
      w.update(moved, g, t_);
      if (rounds_.end_after(t_)) {
        const vec model = told(moved);
        const auto mean = co_await mean_of_models(w, model);
        if (mean)
          outer_.step(theta_, *mean, w.learning_rate(t_));
        if (!is_dropped(w, w.id())) {
          moved = theta_;
          inherited_ = {};
        }
      } else {
        moved = co_await mean_of_island(w, moved, t_);
      }
      x_ = moved;
    }
  }

  const vec& model() const override { return x_; }
  void fields(archive& a) override {
    a(theta_)(x_)(inherited_)(t_);
    outer_.fields(a);
  }
  void inherit(worker& w) override {
    if (!w.islands().are_shared())
      x_ = theta_; // the donor brings its own steps, and those that it has inherited
    inherited_ = {};
  }
  std::uint64_t next_exchange(std::uint64_t t) const override { return rounds_.last_of(t); }

private:
  vec move() const override { return theta_ - x_; }

  /// Absent if no model arrives.
  task<std::optional<vec>> mean_of_models(worker& w, const vec& moved) {
    if (drop_ > 0)
      co_return co_await mean_of_arrivals(w, moved);
    if (!w.exact_codec()) {
      const vec delta = co_await mean_over_islands(w, theta_ - moved, t_, try_packed_mean);
      co_return theta_ - delta;
    }
    co_return co_await mean_over_islands(w, moved, t_, exact_mean(way_));
  }

  bool is_dropped(const worker& w, rank i) const {
    return drop_ > 0 && w.shared_random(purpose::shared_1).uniform(t_, i) < drop_;
  }

  /// theta - (1/m) sum of the theta - x_i that arrive, m of them.
  task<std::optional<vec>> mean_of_arrivals(worker& w, const vec& moved) {
    const auto try_mean_of = w.exact_codec() ? exact_mean(way_) : try_packed_mean;
    for (;;) {
      const auto members = w.members();
      const auto arriving = std::ranges::count_if(members, [&](rank i) { return !is_dropped(w, i); });
      const float share = is_dropped(w, w.id()) ? 0 : static_cast<float>(members.size()) / static_cast<float>(arriving);
      const auto delta = co_await try_mean_of(w, members_of(w), share * (theta_ - moved), t_);
      if (delta && arriving == 0)
        co_return std::nullopt;
      if (delta)
        co_return theta_ - *delta;
    }
  }

  vec theta_;
  vec x_;
  std::uint64_t t_ = 0;
  outer_optimiser outer_;
  step_rounds rounds_;
  float drop_;
  route way_;
};

} // namespace

algorithm_entry diloco_entry() {
  return {
      .about =
          {.name = "diloco",
           .summary = "many steps on each worker alone, then one step of an outer optimiser on their mean progress",
           .maths = "x_i <- x_i - gamma_t u_i(grad F_i(x_i; xi_i,t))\n"
                    "if (t + 1) mod H = 0: Delta = (1/n) sum_i C(theta - x_i);  u <- mu u + Delta;\n"
                    "                      theta <- theta - eta (Delta + mu u);  x_i <- theta\n"
                    "otherwise, in an island I: x_i <- (1/|I|) sum_{j in I} x_j",
           .reference = "Douillard, Feng, Rusu, Chhaparia, Donchev, Kuncoro, Ranzato, Szlam, Shen: DiLoCo: "
                        "distributed low-communication training of language models, 2023, algorithm 1; outer=slowmo: "
                        "Wang, Tantia, Ballas, Rabbat: SlowMo, ICLR 2020",
           .cost = "every H steps 2(n-1) messages and 2(n-1)/n * bits(C) payload bits sent by each worker; between "
                   "them nobody waits for anybody; two more vectors of memory; with islands n counts them, of which "
                   "one worker sends, and each worker sends 2(m-1)/m * 32d in each step within an island of m",
           .parameters =
               with_ring_or_direct(with_outer_step({outer_period(),
                                                    {.key = "drop",
                                                     .fallback = "0",
                                                     .meaning = "probability that a worker's move is lost in a round",
                                                     .min = 0,
                                                     .max = 0.99}}))},
      .traits = {.exchange = exchange_pattern::all,
                 .synchronous = true,
                 .in_islands = true,
                 .lr_grows = false, // the outer momentum lengthens steps already
                 .on_loss = interrupted_round::repeat,
                 .promises = {.most_exchanges_apart = 1, .follows_mean_gradient = false, .sgd_alone = false}},
      .make = [](const algorithm_setup& s) -> std::unique_ptr<algorithm> { return std::make_unique<diloco>(s); },
      .packs_parts = [](const arguments&) { return true; },
  };
}

} // namespace gossamer::actors
