// DeepSqueeze: gossip of compressed models, whose errors each worker keeps and sends with the next one.
//
//   y_i = x_i - gamma_t u(grad F_i(x_i; xi_i,t))
//   q_i = C(m_i + y_i),   m_i <- m_i + y_i - q_i,   m_i = 0 at first
//   x_i = y_i + lambda sum_j W_ij (q_j - q_i)
//
// Tang, Lian, Qiu, Yuan, Zhang, Zhang, Liu: DeepSqueeze: decentralization meets error-compensated compression, 2019,
// algorithm 1. With lambda = 1 and an exact codec it is D-PSGD that adapts first. The codec must lose less than it
// gets.
//
// A worker keeps one vector, m, however many neighbours it has, and none of it belongs to a neighbour: graphs may
// change in any step. CHOCO-SGD keeps an estimate of each neighbour, and exchanges exact models when the graph changes.
// The price is a floor. What is compressed is a model, not a difference that vanishes as workers agree, so that their
// distance from each other stops falling at a level that grows with lambda (docs/algorithms.md has figures). The
// coarser the codec, the smaller lambda must be.
//
// W is symmetric, so averaging never moves the mean of the models, whatever the codec loses. Lost workers: the own q
// stands for theirs. m is no part of a gradient that others miss: it goes with a worker that leaves, and one that comes
// back begins with m = 0.
#include "gossamer/actors/algorithms/entries.hpp"
#include "gossamer/actors/collectives/neighbour_exchange.hpp"

namespace gossamer::actors {

namespace {

class deep_squeeze final : public algorithm {
public:
  deep_squeeze(const vec& initial, float consensus_rate)
      : x_(initial), m_(zeros_like(initial)), consensus_rate_(consensus_rate) {}

  task<> run(worker& w) override {
    for (; co_await w.next_step(t_); ++t_) {
      const vec g = co_await w.start_gradient(x_, t_);
      vec y = x_;
      w.update(y, g, t_);
      m_ += y;
      const auto message = w.encode(m_);
      const vec q = w.decode(message);
      m_ -= q;
      const vec mixed = co_await neighbour_exchange(w, message, q, t_);
      x_ = y + consensus_rate_ * (mixed - q);
    }
  }

  const vec& model() const override { return x_; }
  void fields(archive& a) override { a(x_)(m_)(t_); }
  void inherit(worker&) override { m_ *= 0; }

private:
  vec x_, m_;
  std::uint64_t t_ = 0;
  float consensus_rate_;
};

} // namespace

algorithm_entry deep_squeeze_entry() {
  return {
      .about = {.name = "deep-squeeze",
                .summary = "gossip of compressed models and of what they lacked; one vector of memory on any graph",
                .maths = "y_i = x_i - gamma_t u(grad F_i(x_i; xi_i,t))\n"
                         "q_i = C(m_i + y_i),  m_i <- m_i + y_i - q_i\n"
                         "x_i = y_i + lambda sum_j W_ij (q_j - q_i)",
                .reference = "Tang, Lian, Qiu, Yuan, Zhang, Zhang, Liu: DeepSqueeze: decentralization meets "
                             "error-compensated compression, 2019, algorithm 1",
                .cost =
                    "deg(i) messages and deg(i) * bits(C) payload bits sent by worker i per step; one more vector of "
                    "memory; a step waits for the slowest neighbour only",
                .parameters = {{.key = "consensus-rate",
                                .kind = parameter::type::real,
                                .fallback = "0.1",
                                .meaning =
                                    "lambda; 1 for exact codecs, less for coarser ones: workers stay the further "
                                    "apart the larger it is",
                                .min = 0,
                                .max = 2}}},
      .traits = {.exchange = exchange_pattern::neighbours,
                 .synchronous = true,
                 .default_codec = "top-k:fraction=0.1",
                 .promises = {.most_exchanges_apart = 1}},
      .make = [](const algorithm_setup& s) -> std::unique_ptr<algorithm> {
        return std::make_unique<deep_squeeze>(s.initial, s.given.real32("consensus-rate"));
      },
  };
}

} // namespace gossamer::actors
