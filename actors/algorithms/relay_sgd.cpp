// RelaySGD: every worker takes the mean of all models, some of them late. Messages relay sums along a tree.
//
//   y_i     = x_i - gamma_t u(grad F_i(x_i; xi_i,t))
//   m_i->j  = y_i + sum_{k in N(i) \ j} m_k->i of the step before,   c_i->j = 1 + sum_{k in N(i) \ j} c_k->i
//   x_i    <- (1/n) (y_i + sum_{j in N(i)} m_j->i + (n - 1 - sum_j c_j->i) y_i)
//
// Vogels, He, Koloskova, Lin, Karimireddy, Stich, Jaggi: RelaySum for decentralized deep learning on heterogeneous
// data, NeurIPS 2021, algorithm 1. N(i) are neighbours in a tree that spans the run's topology: no sum comes to a
// worker twice. The model of a worker at distance s is s - 1 steps old, and weighs 1/n as all do. So workers with
// uneven data and a constant rate stop together, and at the minimum, where D-PSGD's stop apart. Delays slow them: with
// tau the mean of all pairs' delays, 0 with oneself, they move as with a rate of gamma / (1 + tau). On the path that
// spans a ring of eight tau is 1.75, on a star near 1. The sum of the models does not follow the gradients step by
// step, for some models are under way.
//
// c counts what a sum holds. Before the first sums have come from everywhere, in as many steps as the tree is wide, the
// worker's own model stands for those that are missing. (The authors' code has the initial model there: a further
// vector, which workers need to have in common.) Sums are of many models, so codecs are exact.
//
// The tree is that of a search from the lowest member (spanning_tree.hpp), which all workers compute alike. Lost
// workers: without a neighbour's sum the own model stands for all that lies behind it. Another tree, of other members
// or of a run that goes on with another topology, would count some models of sums under way twice: all workers forget
// what they have heard, in the same step. Nothing is on its way between two steps: what was heard is a part of
// checkpoints.
#include "gossamer/actors/algorithms/entries.hpp"
#include "gossamer/actors/worker/worker.hpp"
#include "gossamer/base/error.hpp"
#include "gossamer/topology/spanning_tree.hpp"

#include <fmt/format.h>

#include <array>

namespace gossamer::actors {

namespace {

/// A sum of models, and how many they are.
using counted_sum = std::pair<vec, std::uint64_t>;

class relay_sgd final : public algorithm {
public:
  explicit relay_sgd(vec initial) : x_(std::move(initial)) {}

  task<> run(worker& w) override {
    for (; co_await w.next_step(t_); ++t_) {
      find_peers(w);
      const vec g = co_await w.start_gradient(x_, t_);
      vec y = x_;
      w.update(y, g, t_);
      relay(w, y);
      co_await hear(w);
      x_ = mean_with(y, w.members().size());
    }
  }

  const vec& model() const override { return x_; }
  void fields(archive& a) override { a(x_)(heard_)(t_)(tree_); }
  void inherit(worker&) override { heard_.clear(); }

private:
  void find_peers(const worker& w) {
    if (std::exchange(view_of_peers_, w.present().number) == w.present().number)
      return;
    const auto tree = topology::spanning_tree(w.present().mixing->support(), w.members().front());
    peers_.assign(tree.neighbours(w.id()).begin(), tree.neighbours(w.id()).end());
    if (const auto before = std::exchange(tree_, tree.edges()); before != tree_)
      heard_.clear();
  }

  /// Returns the sum of y and all that has been heard, in the order of ranks.
  counted_sum total(const vec& y) const {
    counted_sum all{y, 1};
    for (const auto& [j, heard] : heard_) {
      all.first += heard.first;
      all.second += heard.second;
    }
    return all;
  }

  /// Sends each neighbour all but what it has sent itself.
  void relay(worker& w, const vec& y) {
    const auto all = total(y);
    auto pool = y.pool();
    for (const auto j : peers_) {
      auto [sum, count] = all;
      if (const auto theirs = heard_.find(j); theirs != heard_.end()) {
        sum -= theirs->second.first;
        count -= theirs->second.second;
      }
      w.send(j, {frame_kind::model, t_}, w.encode(sum));
      w.send(j, {frame_kind::model, t_, 1}, w.encode_exactly(vec{pool, std::array{static_cast<float>(count)}}));
    }
  }

  task<> hear(worker& w) {
    const tag of_sum{frame_kind::model, t_}, of_count{frame_kind::model, t_, 1};
    for (const auto j : peers_) {
      const auto sum = co_await w.receive(j, of_sum);
      const auto count = co_await w.receive(j, of_count);
      heard_.erase(j);
      if (sum && count)
        heard_[j] = {w.decode(sum->body), count_in(w, *count)};
    }
  }

  static std::uint64_t count_in(const worker& w, const frame& from) {
    const float count = w.decode(from.body, 1)[0];
    if (!(count >= 0 && count <= static_cast<float>(w.ranks())))
      throw error(errc::bad_packet,
                  fmt::format("worker {} sends a sum over {} of {} workers", from.source, count, w.ranks()),
                  "all nodes of a run must be of the same version");
    return static_cast<std::uint64_t>(count);
  }

  vec mean_with(const vec& y, std::size_t members) const {
    auto [sum, count] = total(y);
    if (count < members)
      sum += static_cast<float>(members - count) * y;
    sum *= 1 / static_cast<float>(members);
    return sum;
  }

  vec x_;
  std::map<rank, counted_sum> heard_; ///< in the last step, by the neighbour that sent it
  std::uint64_t t_ = 0;
  std::vector<topology::graph::edge> tree_; ///< along which that came
  std::vector<rank> peers_;                 ///< neighbours in the tree
  std::uint32_t view_of_peers_ = 0;
};

} // namespace

algorithm_entry relay_sgd_entry() {
  return {
      .about = {.name = "relay-sgd",
                .summary = "sums of models, relayed along a tree: the mean of all, some late; bears data that differ",
                .maths = "y_i = x_i - gamma_t u(grad F_i(x_i; xi_i,t))\n"
                         "m_i->j = y_i + sum_{k in N(i) - j} m_k->i of the step before,  c_i->j likewise from 1\n"
                         "x_i <- (1/n) (y_i + sum_j m_j->i + (n - 1 - sum_j c_j->i) y_i)",
                .reference = "Vogels, He, Koloskova, Lin, Karimireddy, Stich, Jaggi: RelaySum for decentralized deep "
                             "learning on heterogeneous data, NeurIPS 2021, algorithm 1",
                .cost =
                    "a sum and its count, 32d + 32 payload bits in two messages, on each edge of a spanning tree in "
                    "each direction per step: 2 (n - 1) of them by all workers; a model of memory for each neighbour "
                    "in the tree; a step waits for the slowest neighbour only"},
      .traits = {.exchange = exchange_pattern::neighbours,
                 .synchronous = true,
                 .needs = codec_need::exact,
                 .promises = {.follows_mean_gradient = false}},
      .make = [](const algorithm_setup& s) -> std::unique_ptr<algorithm> {
        return std::make_unique<relay_sgd>(s.initial);
      },
  };
}

} // namespace gossamer::actors
