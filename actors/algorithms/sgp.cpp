// SGP: stochastic gradient push. Gossip over one-way links: a worker need not hear from those to which it sends.
//
//   x_i <- x_i - gamma_t u(grad F_i(z_i; xi_i,t)),   z_i = x_i / w_i,   w_i = 1 at first
//   x_i <- sum_j P_ij x_j,   w_i <- sum_j P_ij w_j
//
// where P_ij is what worker j gives i of all that it has: an equal share to each worker to which it sends in this step,
// and one to itself. So the columns of P sum to 1, which a sender knows, and its rows need not. The weights w measure
// what that does to x, and x_i / w_i still tends to the mean. It is the model that is evaluated. Assran, Loizou,
// Ballas, Rabbat: Stochastic gradient push for distributed deep learning, ICML 2019, algorithm 1, with its graph: in
// step t the member at place k of n sends to the one at place k + 2^(t mod L), L = floor(log2(n - 1)) + 1. Of 2^m
// workers each has heard of all others after m steps. (The authors' code sends to either side in turn.) With
// graph=topology a worker sends along all edges of the run's topology: push-sum SGD (Nedic, Olshevsky, 2016) without
// Metropolis' weights.
//
// What leaves a worker is s (C(z_i), 1) with s = w_i / (receivers + 1): a codec may be lossy, and the sums of x and of
// w are conserved still. If z is off by what C lost, it stays so. A model's l1 term shrinks x by as much as SGD's does:
// for such a term prox_{gamma h}(w z) = w prox_{(gamma / w) h}(z).
//
// With drop=P a share is dropped with probability P, as over a link that repeats nothing; Gossamer's links repeat all.
// Its sender keeps it, for a lost share would take its mass with it for ever: w would go to 0, and the steps of z,
// gamma / w, grow without bound. They grow for a while, too, where a worker gives and hardly gets: with P = 0.5 on a
// star runs may diverge. Both ends draw the same numbers, and a dropped share costs no bits.
//
// With overlap=TAU a step does not wait for the shares of this step, but for those of tau steps before (algorithm 2).
// All arrive in the step where they are due, none earlier: a run is a function of its seed. A share that is under way
// counts as its sender's, so that the sums of x and of w are conserved still; but while it is, no worker's gradient
// moves it. So z moves by more than gamma, as w is less than 1, and lags behind: the mean of the models follows the
// gradients some steps later. Before the first shares come each step halves w, or more: down to 2^-tau, with steps as
// much longer. A long overlap wants a warm-up of the rate. What is under way at the end is added to the models that are
// evaluated then.
//
// Lost workers: shares for a worker that is known to be lost are kept; those under way are lost with it, x and w in the
// same ratio, so that z of the others stays a mean of models. When the members change, all begin anew with x_i = z_i
// and w_i = 1 in the same step, and what is under way counts no more (push_sum.hpp).
#include "gossamer/actors/algorithms/entries.hpp"
#include "gossamer/actors/collectives/push_sum.hpp"

#include <algorithm>
#include <bit>

namespace gossamer::actors {

namespace {

one_way_peers on_exponential_graph(const worker& w, std::uint64_t t) {
  const auto all = w.members();
  if (all.size() == 1)
    return {};
  const auto hop = std::size_t{1} << t % static_cast<std::uint64_t>(std::bit_width(all.size() - 1));
  const auto place = static_cast<std::size_t>(std::ranges::lower_bound(all, w.id()) - all.begin());
  return {{all[(place + hop) % all.size()]}, {all[(place + all.size() - hop) % all.size()]}};
}

one_way_peers along_edges(const worker& w, std::uint64_t) {
  const std::vector<rank> both(w.neighbours().begin(), w.neighbours().end());
  return {both, both};
}

bool sends_along_edges(const arguments& given) { return given.is("graph", "topology"); }

class sgp final : public algorithm {
public:
  sgp(const vec& initial, const arguments& given)
      : sum_(initial, sends_along_edges(given) ? push_sum::peers_in_step{along_edges} : on_exponential_graph,
             given.real32("drop"), static_cast<std::uint64_t>(given.integer("overlap"))) {}

  task<> run(worker& w) override {
    sum_.go_on(w, t_);
    for (; co_await w.next_step(t_); ++t_) {
      sum_.enter_view(w);
      const vec g = co_await w.start_gradient(sum_.model(), t_);
      w.update(sum_.x, g, t_, sum_.model());
      co_await sum_.push(w, t_);
    }
    co_await sum_.await_rest(w, t_);
  }

  const vec& model() const override { return sum_.model(); }
  void fields(archive& a) override {
    a(t_);
    sum_.fields(a);
  }
  void inherit(worker&) override { sum_.begin_anew(); }

private:
  std::uint64_t t_ = 0;
  push_sum sum_;
};

} // namespace

algorithm_entry sgp_entry() {
  return {
      .about =
          {.name = "sgp",
           .summary = "gossip over one-way links: workers push shares of their models, and weights that count them",
           .maths = "x_i <- x_i - gamma_t u(grad F_i(z_i; xi_i,t)),  z_i = x_i / w_i\n"
                    "x_i <- sum_j P_ij x_j,  w_i <- sum_j P_ij w_j,  sum_i P_ij = 1",
           .reference = "Assran, Loizou, Ballas, Rabbat: Stochastic gradient push for distributed deep learning, "
                        "ICML 2019, algorithms 1 and 2",
           .cost =
               "a model and its weight, bits(C) + 32 payload bits in two messages, sent by worker i per step to "
               "one worker, or to deg(i); one more vector of memory where weights differ from 1; a step waits for the "
               "workers whose turn it is to send to this one, or was tau steps before, with tau more vectors of memory",
           .parameters = {{.key = "graph",
                           .kind = parameter::type::choice,
                           .fallback = "exponential",
                           .meaning = "to whom a worker sends: in each step to one other, 1, 2, 4, ... places on in "
                                      "turn; or along all edges of --topology",
                           .choices = {"exponential", "topology"}},
                          {.key = "drop",
                           .kind = parameter::type::real,
                           .fallback = "0",
                           .meaning = "probability with which a share is lost on its way, and kept by its sender",
                           .min = 0,
                           .max = 0.99},
                          {.key = "overlap",
                           .kind = parameter::type::integer,
                           .fallback = "0",
                           .meaning = "tau, in steps: a step waits for the shares of so many steps before",
                           .min = 0,
                           .max = 32}}},
      .traits = {.synchronous = true},
      .make = [](const algorithm_setup& s) -> std::unique_ptr<algorithm> {
        return std::make_unique<sgp>(s.initial, s.given);
      },
      .exchange =
          [](const arguments& given) {
            return sends_along_edges(given) ? exchange_pattern::neighbours : exchange_pattern::all;
          },
  };
}

} // namespace gossamer::actors
