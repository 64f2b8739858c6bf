// AD-PSGD: asynchronous decentralised parallel SGD, wait-free and deadlock-free.
//
//   X_{k+1} = X_k W_k - gamma_k [0 ... u(grad F(xhat_k; xi_k)) ... 0]     (only column i_k, the worker that finished)
//
// W_k averages two neighbours; xhat_k is the model as it was when worker i_k began its gradient.
// Lian, Zhang, Zhang, Liu: Asynchronous decentralized parallel stochastic gradient descent, ICML 2018, algorithm 1 and
// the wait-free realisation of its section on implementation.
//
// Each worker runs the paper's routines side by side on one model. `answer` waits for nobody; `ask`, of an active
// worker, waits for the `answer` of a passive one; `learn` waits for no message. So no cycle of waiting can form.
//
//   compute actor --gradient--> learn
//   active  i --average_request(x_i)--> passive j        (odd and even workers of a bipartite topology)
//   active  i <--average_reply(x_j)---- passive j
//   active  i <--invitation()---------- passive j        (j has a gradient, and does not wait for i's reaction)
//
// Algorithm 1 averages once for each gradient, with a random neighbour j of the worker i that computed it. An active i
// asks j; a passive i invites j to ask. A worker that is asked answers at once, so a passive hub of a star averages
// with one leaf after the other, as often as there are gradients anywhere.
//
// An exchange takes two messages, and an active worker that has one under way at a time averages at most once in their
// time, however fast gradients come; what it cannot do it drops. `in-flight=N` has N under way, of neighbours as they
// are drawn, also of one twice. Each then moves both models by 1 / (1 + N) of their difference, not by half, or N
// answers together would lead past the mean (pairwise_average.hpp). `owed=N` lets gradients wait instead: a worker that
// has done N gradients more than averagings for them begins no other. An active worker counts what it has still to ask
// for; a passive one its invitations that no request has answered. Then `learn` waits for `ask`, its own or that of an
// active neighbour, which waits for `answer` alone: still no cycle. A change of the view, where an active worker
// forgets invitations of the view before, and the end of training set the count of invitations to 0, so no gradient
// waits for ever; an invitation of a view that the active worker has yet to enter waits there.
//
// Lost workers: no worker waits for them, `ask` goes on to the next exchange. Because of a loss a worker may change its
// side (see topology/overlay.hpp), so each worker runs both routines, and the view decides which of them acts. A worker
// that comes back starts from the model of another. If it was only cut off, it starts from the mean of that model and
// its own.
//
// With --islands the workers of an island compute gradients at one model, the island's, and their mean is the gradient
// of one step. The head of the island holds the model and averages it with heads of neighbouring islands
// (headed_island.hpp). Momentum is the head's: the next head begins without.
//
// Three points differ from the text, each with a parameter that restores it. A gradient that arrives while an answer is
// under way is applied at once; pairwise_average.hpp shows that the sum of the models stays the same. `form=snapshot`
// keeps it until the answer is there, so that both sides end at the average of the models that they sent, and the next
// gradient is taken where it will lead. The text's wait-free form averages without pause, which on a fast link only
// burns processor time; so does `averaging=continuous`, and `per-active-gradient` leaves out the invitations. Gradients
// are means over a minibatch, as everywhere; `gradient=sum` takes the sum, for the step sizes of the paper's theory.
#include "gossamer/actors/algorithms/entries.hpp"
#include "gossamer/actors/collectives/averaging_queue.hpp"
#include "gossamer/actors/collectives/headed_island.hpp"
#include "gossamer/actors/collectives/pairwise_average.hpp"

namespace gossamer::actors {

namespace {

enum class averaging { per_gradient, per_active_gradient, continuous };

class ad_psgd final : public algorithm {
public:
  struct options {
    averaging rate;
    bool snapshot, sum;
    std::size_t in_flight, owed;
  };

  ad_psgd(vec initial, options o) : x_(std::move(initial)), options_(o), averagings_(o.owed) {}

  task<> run(worker& w) override {
    averagings_.begin();
    island_.begin(w);
    w.serve(answer(w));
    w.serve(hear_invitations(w));
    if (options_.owed > 0)
      w.serve(forget_invitations(w));
    for (std::size_t k = 0; k < options_.in_flight; ++k)
      w.spawn(ask(w));
    return learn(w);
  }

  const vec& model() const override { return x_; }
  void fields(archive& a) override { a(x_)(t_)(exchanges_)(kept_); }
  void inherit(worker&) override { kept_ = {}; } // the donor applies its own kept gradients
  void reunite(const vec& learnt) override {     // averages once, for the averagings missed while cut off
    x_ += learnt;
    x_ *= 0.5f;
  }

private:
  task<> learn(worker& w) {
    for (; co_await w.next_step(t_); ++t_) {
      while (averagings_.owes_too_much() && !w.over())
        co_await averagings_.change();
      if (w.over())
        break;
      auto gradient = w.start_gradient(ahead(w), t_);
      vec g = co_await gradient;
      if (!headed_island::is_headed_by(w)) {
        co_await follow_head(w, std::move(g));
        continue;
      }
      keep(w, co_await island_.mean_gradient(w, std::move(g)));
      if (averagings_.under_way() == 0 || !options_.snapshot)
        apply(w);
      if (options_.rate != averaging::continuous)
        average_for_gradient(w);
      averagings_.notify();
      island_.answer(w, ahead(w));
    }
    learning_ = false;
    averagings_.notify();
    island_.end(w, x_);
  }

  task<> follow_head(worker& w, vec g) {
    auto x = co_await headed_island::model_after(w, g, t_);
    if (!x)
      co_return;
    x_ = *std::move(x);
    kept_ = {};
  }

  /// The value of x after the kept gradients have been applied.
  vec ahead(const worker& w) const { return kept_.empty() ? x_ : w.updated(x_, kept_, t_); }

  void keep(const worker& w, vec g) {
    if (options_.sum)
      g *= static_cast<float>(w.batch());
    if (!kept_.empty())
      g += kept_;
    kept_ = std::move(g);
  }

  void apply(worker& w) {
    if (!kept_.empty())
      w.update(x_, std::exchange(kept_, {}), t_);
  }

  /// Draws the edge of algorithm 1 for the gradient of this step.
  void average_for_gradient(worker& w) {
    const auto j = random_neighbour(w, t_);
    if (j && w.active()) {
      averagings_.add(w, {*j});
    } else if (j && options_.rate == averaging::per_gradient) {
      w.send(*j, {frame_kind::invitation, t_, 0, w.present().number}, {});
      averagings_.has_invited(*j);
    }
  }

  static std::optional<rank> random_neighbour(const worker& w, std::uint64_t draw) {
    const auto all = w.neighbours();
    if (all.empty())
      return std::nullopt;
    return all[random_sequence{w.random(purpose::neighbour), draw}.below(static_cast<std::uint32_t>(all.size()))];
  }

  task<> ask(worker& w) {
    while (learning_) {
      const auto next = next_to_ask(w);
      if (next) {
        const average_question q{exchanges_++, share(), next->invited};
        averagings_.begins(*next);
        co_await ask_for_average(w, x_, next->with, q);
        apply(w);
        averagings_.ends(*next);
      } else {
        co_await averagings_.change();
      }
    }
    averagings_.drop(w);
  }

  std::optional<due_averaging> next_to_ask(worker& w) {
    if (!w.active() || options_.rate != averaging::continuous)
      return averagings_.take(w);
    const auto j = random_neighbour(w, exchanges_);
    return j ? std::optional{due_averaging{*j}} : std::nullopt;
  }

  /// The share of the difference by which an exchange moves both models.
  float share() const { return 1 / static_cast<float>(1 + options_.in_flight); }

  task<> answer(worker& w) {
    for (;;) {
      const auto request = co_await w.receive_any(frame_kind::average_request);
      answer_average(w, x_, request, share());
      averagings_.has_answered(request);
    }
  }

  task<> hear_invitations(worker& w) {
    for (;;) {
      const auto invitation = co_await w.receive_any(frame_kind::invitation);
      averagings_.add(w, {invitation.source, true, invitation.label.view});
      averagings_.notify();
    }
  }

  task<> forget_invitations(worker& w) {
    for (;;) {
      co_await w.change();
      averagings_.forget_invitations();
    }
  }

  vec x_;
  std::uint64_t t_ = 0;
  std::uint64_t exchanges_ = 0;
  vec kept_; ///< sum of the gradients that are still to be applied; mostly empty
  options options_;
  averaging_queue averagings_;
  headed_island island_;
  bool learning_ = true;
};

averaging rate_of(const arguments& given) {
  if (given.is("averaging", "continuous"))
    return averaging::continuous;
  return given.is("averaging", "per-gradient") ? averaging::per_gradient : averaging::per_active_gradient;
}

ad_psgd::options options_of(const arguments& given) {
  const ad_psgd::options o{.rate = rate_of(given),
                           .snapshot = given.is("form", "snapshot"),
                           .sum = given.is("gradient", "sum"),
                           .in_flight = static_cast<std::size_t>(given.integer("in-flight")),
                           .owed = static_cast<std::size_t>(given.integer("owed"))};
  if (o.snapshot && o.in_flight > 1)
    throw error(errc::usage, "ad-psgd keeps gradients back until one answer is there (form=snapshot), not several",
                "give in-flight=1 or form=delta");
  if (o.rate == averaging::continuous && o.owed > 0)
    throw error(errc::usage, "ad-psgd with averaging=continuous owes no averagings that gradients could wait for",
                "give owed=0 or averaging=per-gradient");
  return o;
}

parameter in_flight_parameter() {
  return {.key = "in-flight",
          .kind = parameter::type::integer,
          .fallback = "1",
          .meaning = "N, exchanges that an active worker has under way; each moves both models by 1 / (1 + N) of their "
                     "difference",
          .min = 1,
          .max = 256};
}

parameter owed_parameter() {
  return {.key = "owed",
          .kind = parameter::type::integer,
          .fallback = "0",
          .meaning = "gradients that a worker may be ahead of the averagings for them before it waits; 0: any number, "
                     "and averagings are dropped",
          .min = 0,
          .max = 1e6};
}

} // namespace

algorithm_entry ad_psgd_entry() {
  return {
      .about =
          {.name = "ad-psgd",
           .summary = "asynchronous gossip: wait-free gradients, atomic averaging with one random neighbour at a time",
           .maths = "X_{k+1} = X_k W_k - gamma_k [0 ... u(grad F(xhat_k; xi_k)) ... 0], W_k averages a random edge;\n"
                    "an island I is one column, with the gradient (1/|I|) sum_{j in I} grad F_j(xhat_k; xi_j,k)",
           .reference = "Lian, Zhang, Zhang, Liu: Asynchronous decentralized parallel stochastic gradient descent, "
                        "ICML 2018, algorithm 1",
           .cost =
               "2 messages and 2 bits(C) payload bits per averaging, one averaging for each gradient, or as many as "
               "links bear; for those of passive workers, about half, a message of about 20 bytes more; nobody "
               "waits for a slow worker; within an island of m, for each of its steps, 2(m-1) messages of 32d bits",
           .parameters = {{.key = "averaging",
                           .kind = parameter::type::choice,
                           .fallback = "per-gradient",
                           .meaning = "once for each gradient, for each gradient of an active worker, or all the "
                                      "time",
                           .choices = {"per-gradient", "per-active-gradient", "continuous"}},
                          {.key = "form",
                           .kind = parameter::type::choice,
                           .fallback = "delta",
                           .meaning = "gradients that come during an exchange are applied at once, or after it",
                           .choices = {"delta", "snapshot"}},
                          {.key = "gradient",
                           .kind = parameter::type::choice,
                           .fallback = "mean",
                           .meaning = "over a minibatch",
                           .choices = {"mean", "sum"}},
                          in_flight_parameter(),
                          owed_parameter()}},
      .traits = {.exchange = exchange_pattern::bipartite,
                 .synchronous = false,
                 .in_islands = true,
                 .on_compute_failure = compute_failure::restart},
      .make = [](const algorithm_setup& s) -> std::unique_ptr<algorithm> {
        return std::make_unique<ad_psgd>(s.initial, options_of(s.given));
      },
  };
}

} // namespace gossamer::actors
