// Asynchronous DiLoCo: H steps of a worker alone, then it pushes the distance that it has moved to a master, and pulls
// the outer model. By default nobody waits for another worker.
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
// With grace=xi the master waits xi seconds from the first push that waits, then applies all that have come, one after
// the other in the order of arrival, and only then answers: workers of nearly the same speed go on from the same theta,
// which has the moves of all. With quorum=K it waits for K pushes, and then for xi seconds more; those that have come,
// M >= K of them, are a step of their own:
//
//   theta <- theta - eta D_1 / M;   ...   theta <- theta - eta D_M / M;   m <- mu m + (D_1 + ... + D_M) / M;
//   theta <- theta - eta mu m
//
// The others are not waited for; their pushes belong to a later step. The quorum comes from Decoupled DiLoCo (2026),
// which decoupled_diloco.cpp has; here the model is one fragment, a worker waits for its answer and begins from theta,
// pushes weigh alike, because a move has grown with its steps already, and D_i refers to the theta that its worker has
// read. A late push is not dropped but counts in full, so that n pushes make n / K steps: a quorum of few wants a
// smaller eta. With K = n this is DiLoCo, up to rounding.
//
// With dylu=yes (dynamic local updates) worker i does H_i = max(1, floor(v_i / v_max H)) steps before a push, so that
// all push at about the same time; v_i, in samples per second, is the inverse of the time of its gradients. It tells
// that time with its push, and the master tells it H_i with the answer, each in the label of the frame. Times are
// measured, so 0.05 is added before rounding down.
//
// Lost workers take their steps since the last push with them, and a push that waits; one that comes back pulls theta
// first. One that leaves pushes what it has, and its push counts though it is gone. When the number of workers changes,
// n is the present one, also for pushes that wait in A; a quorum of more than there are is all of them. A grace that is
// under way when a master dies begins again with a worker's next question. A lost master starts anew from the state
// that it saved before its last answer, and applies a push once, however often it is sent; one that has lost its
// process begins from the theta that some worker pulled last, with m = 0.
#include "gossamer/actors/algorithms/entries.hpp"
#include "gossamer/actors/collectives/ask.hpp"
#include "gossamer/actors/collectives/master.hpp"
#include "gossamer/actors/collectives/outer_step.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <set>

namespace gossamer::actors {

namespace {

/// The questions of a worker. A body is what it has moved since its last one.
enum outer_request : std::uint32_t { push_and_go_on, push_and_leave };

/// A worker's question: what it asks, and the seconds that its gradients take; 0: not known. A positive float leaves
/// its first bit free.
struct outer_question {
  outer_request what;
  float gradient_s;

  std::uint32_t as_part() const { return std::bit_cast<std::uint32_t>(gradient_s) << 1 | what; }
  static outer_question from_part(std::uint32_t part) {
    const auto gradient_s = std::bit_cast<float>(part >> 1);
    return {static_cast<outer_request>(part & 1), std::isfinite(gradient_s) ? gradient_s : 0};
  }
};

bool has_dylu(const arguments& given) { return given.is("dylu", "yes"); }

class outer_learner final : public algorithm {
public:
  outer_learner(const vec& initial, const arguments& given)
      : theta_(initial), x_(initial), dylu_(has_dylu(given)),
        period_(static_cast<std::uint64_t>(given.integer("period"))), round_(period_) {}

  task<> run(worker& w) override {
    for (; co_await w.next_step(t_, steps_ > 0); ++t_) {
      if (w.is_leaving()) {
        co_await push(w, push_and_leave);
        continue;
      }
      if (steps_ == 0 || steps_ == round_) {
        const auto answer = co_await push(w, push_and_go_on);
        if (answer.body.elements == 0)
          continue; // training is over
        theta_ = w.decode(answer.body);
        x_ = theta_;
        if (dylu_)
          round_ = std::clamp<std::uint64_t>(answer.label.part, 1, period_);
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
  void fields(archive& a) override {
    a(theta_)(x_)(t_)(steps_)(requests_);
    if (dylu_)
      a(round_);
  }
  void inherit(worker&) override { steps_ = 0; } // the donor pushes its own steps

private:
  task<frame> push(worker& w, outer_request what) {
    packet moved;
    if (steps_ > 0)
      moved = w.encode(theta_ - x_);
    const outer_question question{what, dylu_ ? static_cast<float>(w.gradient_seconds()) : 0};
    auto answer = co_await ask(w, w.master(0), requests_ + 1, question.as_part(), std::move(moved));
    ++requests_; // only now: a run that goes on from a checkpoint repeats an unanswered question
    steps_ = 0;
    co_return answer;
  }

  vec theta_; ///< as pulled last
  vec x_;
  std::uint64_t t_ = 0;
  std::uint64_t steps_ = 0; ///< since then
  std::uint64_t requests_ = 0;
  bool dylu_;
  std::uint64_t period_; ///< H
  std::uint64_t round_;  ///< H_i
};

/// The speeds of workers, and the steps that each of them does in a round.
class local_periods {
public:
  explicit local_periods(std::uint64_t most) : most_(most) {}

  void measured(rank who, float gradient_s) {
    if (gradient_s > 0)
      gradient_s_[who] = static_cast<double>(gradient_s);
  }
  /// H_i = max(1, floor(v_i / v_max H)); H while the speed is not known.
  std::uint32_t of(rank who, std::span<const rank> members) const {
    const auto own = seconds(who);
    auto least = own;
    for (const rank i : members)
      least = std::min(least, seconds(i));
    // Measured times: a worker of nearly half the speed does not lose a step by it.
    constexpr double tolerance = 0.05;
    const auto steps = std::isinf(own) ? static_cast<double>(most_) : least / own * static_cast<double>(most_);
    return static_cast<std::uint32_t>(std::clamp(std::floor(steps + tolerance), 1.0, static_cast<double>(most_)));
  }
  void fields(archive& a) { a(gradient_s_); }

private:
  double seconds(rank i) const {
    const auto found = gradient_s_.find(i);
    return found == gradient_s_.end() ? std::numeric_limits<double>::infinity() : found->second;
  }

  std::uint64_t most_;
  std::map<rank, double> gradient_s_;
};

class delayed_nesterov final : public master {
public:
  explicit delayed_nesterov(const algorithm_setup& s)
      : theta_(s.initial), sum_(zeros_like(theta_)), m_(zeros_like(theta_)),
        periods_(static_cast<std::uint64_t>(s.given.integer("period"))), dylu_(has_dylu(s.given)),
        quorum_(static_cast<std::size_t>(s.given.integer("quorum"))), grace_s_(s.given.real("grace")),
        lr_(s.given.real32("outer-lr")), momentum_(s.given.real32("outer-momentum")) {}

  const vec& model() const override { return theta_; }
  void begin_from(worker& w, remembered_model known) override { theta_ = own_part(w, known, theta_.size()); }

private:
  void own_fields(archive& a) override {
    a(theta_)(sum_)(pushes_)(m_)(left_);
    if (gathers())
      a(batch_);
    if (dylu_)
      periods_.fields(a);
  }
  void begin_run() override {
    left_.clear();
    if (quorum_ == 0)
      return;
    sum_ = zeros_like(sum_); // shares of the last run's last step
    pushes_ = 0;
  }
  bool gathers() const { return quorum_ > 0 || grace_s_ > 0; }

  void take(worker& w, const frame& asked) override {
    const auto question = outer_question::from_part(asked.label.part);
    if (question.what == push_and_leave)
      left_.insert(asked.source);
    else
      left_.erase(asked.source);
    periods_.measured(asked.source, question.gradient_s);
    if (asked.body.elements > 0)
      batch_.emplace_back(asked.source, w.decode(asked.body));
  }
  void forget(rank who) override {
    if (!left_.contains(who))
      std::erase_if(batch_, [who](const auto& waiting) { return waiting.first == who; });
  }
  void act(worker& w) override {
    const auto enough = std::min(std::max<std::size_t>(quorum_, 1), w.members().size());
    const bool complete = !batch_.empty() && batch_.size() >= enough;
    if (w.over() || (complete && grace_s_ == 0))
      return close(w);
    if (complete && !std::exchange(closing_, true))
      w.serve(close_after_grace(w));
  }
  std::optional<answer> answer_to(worker& w, const pending_request& q) override {
    if (w.over() || left_.contains(q.from))
      return answer{};
    if (std::ranges::find(batch_, q.from, &push::first) != batch_.end())
      return std::nullopt;
    return answer{.part = dylu_ ? periods_.of(q.from, w.members()) : 0, .body = w.encode_exactly(theta_)};
  }

  task<> close_after_grace(worker& w) {
    co_await w.pause(grace_s_);
    closing_ = false;
    close(w);
    settle(w);
  }

  /// Applies what has come, in the order of arrival. The last pushes of all workers come one by one, each a share of
  /// the last step.
  void close(worker& w) {
    const auto n = quorum_ > 0 && !w.over() ? batch_.size() : w.members().size();
    for (const auto& [who, moved] : std::exchange(batch_, {}))
      apply(moved, n);
  }
  void apply(const vec& moved, std::size_t n) {
    const float share = 1 / static_cast<float>(n);
    sum_ += moved;
    theta_ -= (lr_ * share) * moved;
    if (++pushes_ < n)
      return;
    m_ *= momentum_;
    m_ += share * sum_;
    theta_ -= (lr_ * momentum_) * m_;
    sum_ *= 0;
    pushes_ = 0;
  }

  using push = std::pair<rank, vec>;

  vec theta_;
  vec sum_; ///< A
  std::uint64_t pushes_ = 0;
  vec m_;
  std::set<rank> left_;     ///< workers that have pushed all that they had: their pushes count though they are gone
  std::vector<push> batch_; ///< not applied yet
  bool closing_ = false;    ///< the grace of the batch has begun
  local_periods periods_;
  bool dylu_;
  std::size_t quorum_; ///< 0: none
  double grace_s_;
  float lr_, momentum_;
};

} // namespace

algorithm_entry async_diloco_entry() {
  return {
      .about =
          {.name = "async-diloco",
           .summary = "many steps on each worker alone, and an outer model at a master that nobody waits for",
           .maths =
               "worker, every H steps: push D = C(theta_i - x_i);  theta_i <- theta;  x_i <- theta_i\n"
               "master, on each push: theta <- theta - eta D / n;  on each n-th, with the sum A of the last n:\n"
               "m <- mu m + A / n;  theta <- theta - eta mu m\n"
               "with grace or quorum=K the master first waits for others, and then answers all; with quorum=K each\n"
               "such batch, of M >= K pushes, is the n = M of a step\n"
               "with dylu=yes worker i does max(1, floor(v_i / v_max H)) steps, at its speed v_i",
           .reference = "Liu, Chhaparia, Douillard, Kale, Rusu, Shen, Szlam, Ranzato: Asynchronous local-SGD training "
                        "for language modeling, 2024, algorithm 3",
           .cost =
               "every H (with dylu=yes H_i) steps of a worker bits(C) payload bits up and 32 d down, in one message "
               "each way; nobody waits for a slow worker, but as long as grace and quorum say; one more vector of "
               "memory at workers, two at the master, and with grace or quorum one for each push that waits",
           .parameters = {outer_period(),
                          outer_lr("0.7", "eta"),
                          outer_momentum("0.3", "mu"),
                          grace("seconds from the push that makes a batch complete, its first or its K-th, to the "
                                "step on all that have come"),
                          quorum("K: pushes for which the master waits, then does a whole step on their mean; 0: "
                                 "each push is a share of a step"),
                          {.key = "dylu",
                           .kind = parameter::type::choice,
                           .fallback = "no",
                           .meaning = "yes: a slow worker does fewer steps between two pushes, by its speed",
                           .choices = {"no", "yes"}}}},
      .traits = {.exchange = exchange_pattern::all,
                 .synchronous = false,
                 .on_compute_failure = compute_failure::restart,
                 .promises = {.follows_mean_gradient = false, .sgd_alone = false}},
      .make = [](const algorithm_setup& s) -> std::unique_ptr<algorithm> {
        return std::make_unique<outer_learner>(s.initial, s.given);
      },
      .masters = one_master,
      .make_master = [](const algorithm_setup& s) -> std::unique_ptr<algorithm> {
        return std::make_unique<delayed_nesterov>(s);
      },
  };
}

} // namespace gossamer::actors
