// Asynchronous DiLoCo: H steps of a worker alone, then it pushes the distance that it has moved to a master, and pulls
// the outer model. Nobody waits for another worker.
//
//   worker i, every H steps   push theta_i - x_i;   theta_i <- theta, as the master has it then;   x_i <- theta_i
//   master, on each push D    A <- A + D;   theta <- theta - eta D / n
//   and on each n-th          m <- mu m + A / n;   theta <- theta - eta mu m;   A <- 0
//
// with n workers. Liu, Chhaparia, Douillard, Kale, Rusu, Shen, Szlam, Ranzato: Asynchronous local-SGD training for
// language modeling, 2024, algorithm 3, delayed Nesterov, with c = 0. Nesterov's step for each push would apply its
// momentum n times where DiLoCo does once, and lead too far. Here n pushes from one theta are one step of DiLoCo.
//
// Here a push is about a round old when it is applied. So a momentum and a rate that suit DiLoCo overshoot where
// workers move far in a round: MNIST with 8 workers and H = 10 ends at 0.910 with mu = 0.3, eta = 0.7, and with mu =
// 0.9 at 0.894 with eta = 0.2 and at 0.740 with 0.7. The published 0.9 and 0.7 are for language models, whose rounds
// move them little.
//
// A slow worker's push refers to the theta that it has read, so it undoes nothing that others have done meanwhile. The
// optimiser u_i is each worker's own. Evaluations use the master's theta.
//
// Lost workers take their steps since the last push with them; one that comes back pulls theta first. When the number
// of workers changes, n is the present one, also for pushes that wait in A. A lost master starts anew from the state
// that it saved before its last answer, and applies a push once, however often it is sent; one that has lost its
// process begins from the theta that some worker pulled last, with m = 0.
#include "gossamer/actors/algorithms/entries.hpp"
#include "gossamer/actors/collectives/ask.hpp"
#include "gossamer/actors/collectives/master.hpp"
#include "gossamer/actors/collectives/outer_step.hpp"

#include <set>

namespace gossamer::actors {

namespace {

/// The questions of a worker. A body is what it has moved since its last one.
enum outer_request : std::uint32_t { push_and_go_on, push_and_leave };

class outer_learner final : public algorithm {
public:
  outer_learner(const vec& initial, std::uint64_t period) : theta_(initial), x_(initial), period_(period) {}

  task<> run(worker& w) override {
    for (; co_await w.next_step(t_); ++t_) {
      if (steps_ == 0 || steps_ == period_) {
        const auto answer = co_await push(w, push_and_go_on);
        if (answer.body.elements == 0)
          continue; // training is over
        theta_ = w.decode(answer.body);
        x_ = theta_;
      }
      const vec g = co_await w.start_gradient(x_, t_);
      w.update(x_, g, t_);
      w.gradient_applied(0); // x is the worker's own model
      ++steps_;
    }
    co_await push(w, push_and_leave);
  }

  const vec& model() const override { return x_; }
  remembered_model remembers() const override { return {theta_, 0}; }
  void fields(archive& a) override { a(theta_)(x_)(t_)(steps_)(requests_); }
  void inherit(worker&) override { steps_ = 0; } // the donor pushes its own steps

private:
  task<frame> push(worker& w, outer_request what) {
    packet moved;
    if (steps_ > 0)
      moved = w.encode(theta_ - x_);
    auto answer = co_await ask(w, w.master(0), requests_ + 1, what, std::move(moved));
    ++requests_; // only now: a run that goes on from a checkpoint repeats an unanswered question
    steps_ = 0;
    co_return answer;
  }

  vec theta_; ///< as pulled last
  vec x_;
  std::uint64_t t_ = 0;
  std::uint64_t steps_ = 0; ///< since then
  std::uint64_t requests_ = 0;
  std::uint64_t period_;
};

class delayed_nesterov final : public master {
public:
  explicit delayed_nesterov(const algorithm_setup& s)
      : theta_(s.initial), sum_(zeros_like(theta_)), m_(zeros_like(theta_)), lr_(s.given.real32("outer-lr")),
        momentum_(s.given.real32("outer-momentum")) {}

  const vec& model() const override { return theta_; }
  void begin_from(worker& w, remembered_model known) override { theta_ = own_part(w, known, theta_.size()); }
  void fields(archive& a) override {
    master::fields(a);
    a(theta_)(sum_)(pushes_)(m_)(left_);
  }

private:
  void take(worker& w, const frame& asked) override {
    if (asked.label.part == push_and_leave)
      left_.insert(asked.source);
    else
      left_.erase(asked.source);
    if (asked.body.elements == 0)
      return;
    const vec moved = w.decode(asked.body);
    const float share = 1 / static_cast<float>(w.members().size());
    sum_ += moved;
    theta_ -= (lr_ * share) * moved;
    if (++pushes_ < w.members().size())
      return;
    m_ *= momentum_;
    m_ += share * sum_;
    theta_ -= (lr_ * momentum_) * m_;
    sum_ *= 0;
    pushes_ = 0;
  }
  std::optional<answer> answer_to(worker& w, const pending_request& q) override {
    return w.over() || left_.contains(q.from) ? answer{} : answer{.body = w.encode_exactly(theta_)};
  }

  vec theta_;
  vec sum_; ///< A
  std::uint64_t pushes_ = 0;
  vec m_;
  std::set<rank> left_; ///< workers that have done their last step
  float lr_, momentum_;
};

} // namespace

const algorithm_entry async_diloco_entry{
    .about = {.name = "async-diloco",
              .summary = "many steps on each worker alone, and an outer model at a master that nobody waits for",
              .maths =
                  "worker, every H steps: push D = C(theta_i - x_i);  theta_i <- theta;  x_i <- theta_i\n"
                  "master, on each push: theta <- theta - eta D / n;  on each n-th, with the sum A of the last n:\n"
                  "m <- mu m + A / n;  theta <- theta - eta mu m",
              .reference =
                  "Liu, Chhaparia, Douillard, Kale, Rusu, Shen, Szlam, Ranzato: Asynchronous local-SGD training "
                  "for language modeling, 2024, algorithm 3",
              .cost =
                  "every H steps of a worker bits(C) payload bits up and 32 d down, in one message each way; nobody "
                  "waits for a slow worker; one more vector of memory at workers, two at the master",
              .parameters = {outer_period(), outer_lr("0.7", "eta"), outer_momentum("0.3", "mu")}},
    .traits = {.exchange = exchange_pattern::all,
               .synchronous = false,
               .on_compute_failure = compute_failure::restart,
               .promises = {.follows_mean_gradient = false, .sgd_alone = false}},
    .make = [](const algorithm_setup& s) -> std::unique_ptr<algorithm> {
      return std::make_unique<outer_learner>(s.initial, static_cast<std::uint64_t>(s.given.integer("period")));
    },
    .masters = one_master,
    .make_master = [](const algorithm_setup& s) -> std::unique_ptr<algorithm> {
      return std::make_unique<delayed_nesterov>(s);
    },
};

} // namespace gossamer::actors
