// AD-PSGD: asynchronous decentralised parallel SGD, wait-free and deadlock-free.
//
//   X_{k+1} = X_k W_k - gamma_k [0 ... u(grad F(xhat_k; xi_k)) ... 0]     (only column i_k, the worker that finished)
//
// W_k averages two neighbours; xhat_k is the model as it was when worker i_k began its gradient.
// Lian, Zhang, Zhang, Liu: Asynchronous decentralized parallel stochastic gradient descent, ICML 2018, algorithm 1 and
// the wait-free realisation of its section on implementation.
//
// Each worker runs the paper's routines side by side on one model. `learn` never waits for a message; an active worker
// waits only for passive ones; a passive worker waits for no answer. So no cycle of waiting can form.
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
// Lost workers: no worker waits for them, `ask` goes on to the next exchange. Because of a loss a worker may change its
// side (see topology/overlay.hpp), so each worker runs both routines, and the view decides which of them acts. A worker
// that comes back starts from the model of another. If it was only cut off, it starts from the mean of that model and
// its own.
//
// Three points differ from the text, each with a parameter that restores it. A gradient that arrives while an answer is
// under way is applied at once; pairwise_average.hpp shows that the sum of the models stays the same. `form=snapshot`
// keeps it until the answer is there, so that both sides end at the average of the models that they sent, and the next
// gradient is taken where it will lead. The text's wait-free form averages without pause, which on a fast link only
// burns processor time; so does `averaging=continuous`, and `per-active-gradient` leaves out the invitations. Gradients
// are means over a minibatch, as everywhere; `gradient=sum` takes the sum, for the step sizes of the paper's theory.
#include "gossamer/actors/algorithms/entries.hpp"
#include "gossamer/actors/collectives/pairwise_average.hpp"

#include <deque>

namespace gossamer::actors {

namespace {

enum class averaging { per_gradient, per_active_gradient, continuous };

class ad_psgd final : public algorithm {
public:
  struct options {
    averaging rate;
    bool snapshot, sum;
  };

  ad_psgd(vec initial, options o) : x_(std::move(initial)), options_(o) {}

  task<> run(worker& w) override {
    w.serve(answer(w));
    w.serve(hear_invitations(w));
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
  static constexpr std::size_t most_owed = 1024; // averagings; after a longer pause the rest is dropped

  task<> learn(worker& w) {
    for (; co_await w.next_step(t_); ++t_) {
      auto gradient = w.start_gradient(ahead(w), t_);
      keep(w, co_await gradient);
      if (!asking_ || !options_.snapshot)
        apply(w);
      if (options_.rate != averaging::continuous)
        average_for_gradient(w);
      turn_.notify();
    }
    learning_ = false;
    turn_.notify();
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
    if (j && w.active())
      owe(*j);
    else if (j && options_.rate == averaging::per_gradient)
      w.send(*j, {frame_kind::invitation, t_}, {});
  }

  static std::optional<rank> random_neighbour(const worker& w, std::uint64_t draw) {
    const auto all = w.neighbours();
    if (all.empty())
      return std::nullopt;
    return all[random_sequence{w.random(purpose::neighbour), draw}.below(static_cast<std::uint32_t>(all.size()))];
  }

  task<> ask(worker& w) {
    while (learning_) {
      const auto j = next_to_ask(w);
      if (j) {
        asking_ = true;
        co_await ask_for_average(w, x_, *j, exchanges_++);
        asking_ = false;
        apply(w);
      } else {
        co_await turn_.wait();
      }
    }
  }

  /// Notes an averaging. The number is limited: links that bear fewer averagings than there are gradients never catch
  /// up.
  void owe(rank j) {
    if (to_ask_.size() < most_owed)
      to_ask_.push_back(j);
  }

  /// The next neighbour to ask. Skips neighbours that were lost, or that this worker's or their change of side rules
  /// out.
  std::optional<rank> next_to_ask(const worker& w) {
    if (w.active() && options_.rate == averaging::continuous)
      return random_neighbour(w, exchanges_);
    while (!to_ask_.empty()) {
      const auto j = to_ask_.front();
      to_ask_.pop_front();
      if (w.active() && std::ranges::binary_search(w.neighbours(), j))
        return j;
    }
    return std::nullopt;
  }

  task<> hear_invitations(worker& w) {
    for (;;) {
      const auto invitation = co_await w.receive_any(frame_kind::invitation);
      owe(invitation.source);
      turn_.notify();
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
  vec kept_; ///< sum of the gradients that are still to be applied; mostly empty
  options options_;
  std::deque<rank> to_ask_; ///< in the order of the gradients, own ones and those of inviting neighbours
  bool asking_ = false;
  bool learning_ = true;
  signal turn_; ///< `to_ask_` or `learning_` has changed
};

averaging rate_of(const arguments& given) {
  if (given.is("averaging", "continuous"))
    return averaging::continuous;
  return given.is("averaging", "per-gradient") ? averaging::per_gradient : averaging::per_active_gradient;
}

} // namespace

const algorithm_entry ad_psgd_entry{
    .about = {.name = "ad-psgd",
              .summary =
                  "asynchronous gossip: wait-free gradients, atomic averaging with one random neighbour at a time",
              .maths = "X_{k+1} = X_k W_k - gamma_k [0 ... u(grad F(xhat_k; xi_k)) ... 0], W_k averages a random edge",
              .reference = "Lian, Zhang, Zhang, Liu: Asynchronous decentralized parallel stochastic gradient descent, "
                           "ICML 2018, algorithm 1",
              .cost =
                  "2 messages and 2 bits(C) payload bits per averaging, one averaging for each gradient, or as many as "
                  "links bear; for those of passive workers, about half, a message of about 20 bytes more; nobody "
                  "waits for a slow worker",
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
                              .choices = {"mean", "sum"}}}},
    .traits = {.exchange = exchange_pattern::bipartite,
               .synchronous = false,
               .on_compute_failure = compute_failure::restart},
    .make = [](const algorithm_setup& s) -> std::unique_ptr<algorithm> {
      return std::make_unique<ad_psgd>(s.initial, ad_psgd::options{.rate = rate_of(s.given),
                                                                   .snapshot = s.given.is("form", "snapshot"),
                                                                   .sum = s.given.is("gradient", "sum")});
    },
};

} // namespace gossamer::actors
