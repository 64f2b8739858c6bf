// CHOCO-SGD: gossip with codecs of any bias. Neighbours hold estimates h of each other's models, follow them by
// compressed differences, and move towards them by a part only.
//
//   x_i <- x_i - gamma_t u(grad F_i(x_i,t; xi_i,t)) + lambda sum_j W_ij (h_j - h_i)
//   q_i = C(x_i - h_i),   and the same q_i is added to h_i wherever it is held
//
// Koloskova, Stich, Jaggi: Decentralized stochastic optimization and gossip algorithms with compressed communication,
// ICML 2019, algorithm 2; Koloskova, Lin, Stich, Jaggi: Decentralized deep learning with arbitrary communication
// compression, ICLR 2020. The order is that of the authors' code: messages travel while the next gradient is computed.
// The first paper adapts, sends and then combines. With lambda = 1 and an exact codec the algorithm is D-PSGD.
//
// Since W is symmetric, averaging never moves the mean of the models, whatever the codec loses. The coarser the codec,
// the smaller lambda must be: above a limit the models run apart. On a ring of eight the limit is about 1.5 for exact
// messages, 0.5 for a tenth of the elements, and 0.06 for a hundredth.
//
// A weight decay is a part of F_i, that is, of x_i,t. Lost workers: their estimates are replaced by h_i. Each view
// begins with an exchange of exact models (replicas.hpp), also for a worker that has come back.
#include "gossamer/actors/algorithms/entries.hpp"
#include "gossamer/actors/collectives/replicas.hpp"

namespace gossamer::actors {

namespace {

class choco_sgd final : public algorithm {
public:
  choco_sgd(const vec& initial, float consensus_rate)
      : x_(initial), estimates_(initial, replicas::add), consensus_rate_(consensus_rate) {}

  task<> run(worker& w) override {
    for (; co_await w.next_step(t_); ++t_) {
      auto gradient = w.start_gradient(x_, t_);
      co_await estimates_.catch_up(w, x_, t_);
      const vec& h = estimates_.own();
      vec next = x_ + consensus_rate_ * (estimates_.mix(w, h) - h);
      const vec g = co_await gradient;
      w.update(next, g, t_, x_);
      x_ = std::move(next);
      estimates_.publish(w, x_ - h, t_);
    }
  }

  const vec& model() const override { return x_; }
  void fields(archive& a) override {
    a(x_);
    estimates_.fields(a);
    a(t_);
  }

private:
  vec x_;
  replicas estimates_;
  std::uint64_t t_ = 0;
  float consensus_rate_;
};

} // namespace

algorithm_entry choco_sgd_entry() {
  return {
      .about = {.name = "choco-sgd",
                .summary =
                    "gossip that bears any compression: estimates of the neighbours, and a small step towards them",
                .maths = "x_i <- x_i - gamma_t u(grad F_i(x_i,t; xi_i,t)) + lambda sum_j W_ij (h_j - h_i)\n"
                         "h_i <- h_i + C(x_i - h_i), here and in every neighbour's estimate of x_i",
                .reference =
                    "Koloskova, Stich, Jaggi: Decentralized stochastic optimization and gossip algorithms with "
                    "compressed communication, ICML 2019, algorithm 2",
                .cost = "deg(i) messages and deg(i) * bits(C) payload bits sent by worker i per step; deg(i) + 1 "
                        "estimates of memory; a step waits for the slowest neighbour only",
                .parameters = {{.key = "consensus-rate",
                                .kind = parameter::type::real,
                                .fallback = "0.3",
                                .meaning = "lambda; 1 for exact codecs, less for coarser ones",
                                .min = 0,
                                .max = 2}}},
      .traits = {.exchange = exchange_pattern::neighbours,
                 .synchronous = true,
                 .default_codec = "top-k:fraction=0.1",
                 .promises = {.most_exchanges_apart = 2}},
      .make = [](const algorithm_setup& s) -> std::unique_ptr<algorithm> {
        return std::make_unique<choco_sgd>(s.initial, s.given.real32("consensus-rate"));
      },
  };
}

} // namespace gossamer::actors
