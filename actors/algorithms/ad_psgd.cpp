// AD-PSGD: asynchronous decentralised parallel SGD, wait-free and deadlock-free.
//
//   X_{k+1} = X_k W_k - gamma_k [0 ... u(grad F(xhat_k; xi_k)) ... 0]     (only column i_k, the worker that finished)
//
// W_k averages two neighbours; xhat_k is the model as it was when worker i_k began its gradient.
// Lian, Zhang, Zhang, Liu: Asynchronous decentralized parallel stochastic gradient descent, ICML 2018, algorithm 1 and
// the wait-free realisation of its section on implementation.
//
// Each worker runs the paper's routines side by side on one model: `learn` never waits for a message, an active worker
// waits only for passive ones, a passive worker waits for nobody's answer; so no cycle of waiting can form.
//
//   compute actor --gradient--> learn
//   active  i --average_request(x_i)--> passive j        (odd and even workers of a bipartite topology)
//   active  i <--average_reply(x_j)---- passive j
//
// Lost workers: nobody waits for one, `ask` just goes on to the next exchange. Because of a loss a worker may change
// its side (see topology/overlay.hpp), so each runs both routines, and which of them does something depends on the
// view. One that comes back starts from the model of a neighbour.
//
// We differ from the text in two points. A gradient that arrives while an answer is under way is applied at once
// instead of being buffered, which pairwise_average.hpp shows to conserve the same sum. By default a worker asks once
// for each of its gradients, as in algorithm 1; `averaging=continuous` asks without pause, which on a fast link only
// burns processor time.
#include "gossamer/actors/algorithms/entries.hpp"
#include "gossamer/actors/collectives/pairwise_average.hpp"

namespace gossamer::actors {

namespace {

class ad_psgd final : public algorithm {
public:
  ad_psgd(vec initial, bool continuous) : x_(std::move(initial)), continuous_(continuous) {}

  task<> run(worker& w) override {
    w.serve(answer(w));
    w.spawn(ask(w));
    return learn(w);
  }

  const vec& model() const override { return x_; }
  void fields(archive& a) override { a(x_)(t_)(exchanges_); }

private:
  task<> learn(worker& w) {
    for (; co_await w.next_step(t_); ++t_) {
      const vec g = co_await w.start_gradient(x_, t_);
      w.update(x_, g, t_);
      learnt_.notify();
    }
    learning_ = false;
    learnt_.notify();
  }

  task<> ask(worker& w) {
    const auto choice = w.random(purpose::neighbour);
    while (learning_) {
      const auto passive = w.neighbours();
      if (w.active() && !passive.empty() && (continuous_ || exchanges_ < t_)) {
        random_sequence draw{choice, exchanges_};
        const auto j = passive[draw.below(static_cast<std::uint32_t>(passive.size()))];
        co_await ask_for_average(w, x_, j, exchanges_++);
      } else {
        exchanges_ = std::max(exchanges_, t_); // a passive worker that becomes active has nothing to catch up on
        co_await learnt_.wait();
      }
    }
  }

  task<> answer(worker& w) {
    for (;;) {
      const auto request = co_await w.receive_any(frame_kind::average_request);
      answer_average(w, x_, request);
    }
  }

  vec x_;
  std::uint64_t t_ = 0;
  std::uint64_t exchanges_ = 0;
  bool continuous_;
  bool learning_ = true;
  signal learnt_;
};

} // namespace

const algorithm_entry ad_psgd_entry{
    .about = {.name = "ad-psgd",
              .summary =
                  "asynchronous gossip: wait-free gradients, atomic averaging with one random neighbour at a time",
              .maths = "X_{k+1} = X_k W_k - gamma_k [0 ... u(grad F(xhat_k; xi_k)) ... 0], W_k averages a random edge",
              .reference = "Lian, Zhang, Zhang, Liu: Asynchronous decentralized parallel stochastic gradient descent, "
                           "ICML 2018, algorithm 1",
              .cost =
                  "2 messages and 2 bits(C) payload bits per averaging, one averaging for each gradient of an active "
                  "worker; nobody waits for a slow worker",
              .parameters = {{.key = "averaging",
                              .kind = parameter::type::choice,
                              .fallback = "per-gradient",
                              .meaning = "how often an active worker averages",
                              .choices = {"per-gradient", "continuous"}}}},
    .traits = {.exchange = exchange_pattern::bipartite,
               .synchronous = false,
               .on_compute_failure = compute_failure::restart},
    .make = [](const algorithm_setup& s) -> std::unique_ptr<algorithm> {
      return std::make_unique<ad_psgd>(s.initial, s.given.is("averaging", "continuous"));
    },
};

} // namespace gossamer::actors
