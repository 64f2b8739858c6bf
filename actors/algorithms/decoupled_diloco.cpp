// Decoupled DiLoCo: learners train alone and exchange the model with a syncer, fragment by fragment. An outer step on a
// fragment needs some of the learners only, and those who come late are not waited for.
//
//   learner i, every step          x_i <- x_i - gamma_t u_i(grad F_i(x_i; xi_i,t))
//   when fragment p leaves         push x_i,p, with the steps c_i since it last left
//   tau steps later                x_i,p <- alpha x_i,p + (1 - alpha) theta_p,   with theta_p as the syncer answers
//   syncer, with K pushes of p     D = merge of the theta_p - x_i,p, with the weights w_i = s_i^2 / c_i
//                                  u_p <- mu u_p + D;   theta_p <- theta_p - eta (D + mu u_p)
//
// s_i is the number of samples in those steps. Workers of one run have one size of minibatches, so that w_i is in
// proportion to c_i, H but for those that have just come and for the last push. Fragments and their turns are those of
// Streaming DiLoCo (fragments.hpp). Douillard and others: Decoupled DiLoCo for resilient distributed pre-training,
// 2026.
//
// merge=rda is the radial-directional average of each tensor (weighted_mean.hpp): an outer step is as long as a mean
// move, however many take part and however little they agree. merge=mean is the weighted mean; with K = n, P = 1, tau =
// 0 and alpha = 0 it makes this DiLoCo.
//
// With anchor=current a push is taken as the learner's model: with merge=mean, eta = 1 and mu = 0 theta becomes the
// weighted mean of the learners' models, and a stale learner undoes, by its weight, what others have done meanwhile.
// With anchor=read D_i = theta_p - x_i,p refers to the theta_p that the learner has read last, and undoes nothing; it
// wants alpha = 0, or the part that a learner keeps counts twice, and a smaller momentum (async_diloco.cpp). A codec
// that is not exact packs this D_i in both cases; for anchor=current the syncer remembers what each learner has read.
//
// A quorum of K takes pushes of K learners, and with grace=xi those that come within xi seconds more; K = 0 is more
// than half of the members. A learner is answered when theta_p is newer than what it has read: one that comes just
// after a step is answered at once, and its push belongs to the next; a later push replaces it, and the counters add
// up. With anchor=read it waits for its own step, since a model without its move would lead it the same way twice. When
// all wait, but not for the same fragment, the one with the most pushes goes on with those.
//
// When training is over nobody waits: each learner pushes what it has learnt since each fragment left last, and when
// all have, the syncer takes a last step on what is in. One that leaves the run pushes as much, for the next step on
// each fragment.
//
// Lost learners take their steps since the last push with them, and a push that waits; one that comes back pulls theta
// first. A quorum of more than all is all. A grace that is under way when the syncer dies begins again with the next
// question. A lost syncer starts anew from the state that it saved before its last answer; one that has lost its
// process begins from the theta that some worker pulled last, with u = 0, and takes no distance from an unknown model;
// nor does one whose run goes on with an inexact codec after an exact one.
#include "gossamer/actors/algorithms/decoupled_diloco.hpp"

#include "gossamer/actors/algorithms/entries.hpp"
#include "gossamer/actors/collectives/ask.hpp"
#include "gossamer/actors/collectives/fragments.hpp"
#include "gossamer/actors/collectives/master.hpp"
#include "gossamer/actors/collectives/outer_step.hpp"

namespace gossamer::actors {

namespace {

class decoupled_learner final : public algorithm {
public:
  explicit decoupled_learner(const algorithm_setup& s)
      : theta_(s.initial), x_(s.initial), parts_(s.given, "decoupled-diloco"), left_at_(parts_.count()),
        sends_model_(s.given.is("anchor", "current")), own_share_(s.given.real32("own-share")) {}

  task<> run(worker& w) override {
    std::optional<task<frame>> answer;
    for (;;) {
      co_await exchange(w, answer);
      const bool goes_on = co_await w.next_step(t_, true);
      if (!goes_on)
        break;
      if (w.is_leaving()) {
        co_await end(w, answer);
        co_await w.may_leave(); // it goes on if another worker is lost just now
        continue;
      }
      const vec g = co_await w.start_gradient(x_, t_);
      w.update(x_, g, t_);
      w.gradient_applied(0); // x is the learner's own model
      ++t_;
    }
    co_await end(w, answer);
  }

  const vec& model() const override { return x_; }
  remembered_model remembers() const override { return {theta_, 0}; }
  void fields(archive& a) override {
    a(theta_)(x_)(pulled_)(t_)(left_at_)(leaves_)(fragment_)(steps_)(frozen_)(requests_);
  }
  void inherit(worker&) override {
    pulled_ = leaves_ = false; // the donor pushes its own steps
    frozen_ = {};
  }

private:
  /// Does what is due after t steps. Does nothing the second time: a learner that goes on from a saved state comes here
  /// again.
  task<> exchange(worker& w, std::optional<task<frame>>& answer) {
    if (!pulled_)
      co_await pull(w);
    if (const auto p = parts_.leaving(t_); p && left_at_[*p] < t_)
      freeze(*p);
    if (leaves_ && !answer)
      send(w, answer);
    if (leaves_ && t_ >= left_at_[fragment_] + parts_.overlap())
      co_await adopt(w, answer);
  }

  task<> pull(worker& w) {
    const auto answer = co_await ask_for(w, sync_request::pull_all);
    x_ = theta_ = w.decode(answer.body);
    std::ranges::fill(left_at_, t_);
    pulled_ = true;
  }
  task<frame> ask_for(worker& w, sync_request what) {
    const sync_question question{what};
    packet nothing;
    auto answer = co_await ask(w, w.master(0), requests_ + 1, question.as_part(), std::move(nothing));
    ++requests_; // only now: a run that goes on from a checkpoint repeats an unanswered question
    co_return answer;
  }

  void freeze(std::uint64_t p) {
    fragment_ = p;
    steps_ = t_ - std::exchange(left_at_[p], t_);
    frozen_ = parts_.of(x_, p);
    leaves_ = !frozen_.empty();
  }

  void send(worker& w, std::optional<task<frame>>& answer, sync_request what = sync_request::push_fragment) {
    const sync_question question{what, fragment_, steps_};
    const bool is_model = sends_model_ && w.exact_codec();
    auto body = w.encode(is_model ? frozen_ : parts_.of(theta_, fragment_) - frozen_);
    answer.emplace(ask(w, w.master(0), requests_ + 1, question.as_part(), std::move(body)));
    answer->start();
  }

  task<> adopt(worker& w, std::optional<task<frame>>& answer) {
    auto asked = std::move(*answer);
    answer.reset();
    const auto answered = co_await asked;
    ++requests_;
    leaves_ = false;
    frozen_ = {};
    if (answered.body.elements == 0)
      co_return; // training is over
    const vec theta = w.decode(answered.body, parts_.place(fragment_, theta_.size()).size);
    parts_.put(theta_, fragment_, theta);
    parts_.mix(x_, fragment_, theta, own_share_);
  }

  task<> end(worker& w, std::optional<task<frame>>& answer) {
    if (leaves_)
      co_await adopt(w, answer);
    for (std::uint64_t p = 0; p < parts_.count(); ++p) {
      if (left_at_[p] < t_)
        freeze(p);
      if (leaves_) {
        send(w, answer, sync_request::push_rest);
        co_await adopt(w, answer);
      }
    }
    co_await ask_for(w, sync_request::leave);
    pulled_ = false; // a run that goes on begins from theta, which has these moves
  }

  vec theta_; ///< as read last, fragment by fragment
  vec x_;
  bool pulled_ = false;
  std::uint64_t t_ = 0;
  fragments parts_;
  std::vector<std::uint64_t> left_at_; ///< the steps that were done when each fragment left last
  bool leaves_ = false;                ///< a fragment is under way:
  std::uint64_t fragment_ = 0;         ///< its number,
  std::uint64_t steps_ = 0;            ///< its steps,
  vec frozen_;                         ///< and x_p as it left
  std::uint64_t requests_ = 0;
  bool sends_model_;
  float own_share_;
};

} // namespace

algorithm_entry decoupled_diloco_entry() {
  return {
      .about = {.name = "decoupled-diloco",
                .summary = "DiLoCo of learners that are not waited for, in fragments, by a quorum and with weights",
                .maths =
                    "learner: x_i <- x_i - gamma_t u_i(grad F_i(x_i; xi_i,t))\n"
                    "every H steps, for each fragment p in turn: push x_i,p (anchor=read, or an inexact C:\n"
                    "C(theta_p - x_i,p));  tau steps later x_i,p <- alpha x_i,p + (1 - alpha) theta_p\n"
                    "syncer, with K pushes of p: D = merge of theta_p - x_i,p with weights samples_i^2 / steps_i;\n"
                    "u_p <- mu u_p + D;  theta_p <- theta_p - eta (D + mu u_p)\n"
                    "merge=rda, for each tensor, phi(v) = v / |v|: (sum w_i |v_i| / sum w_i) phi(sum w_i phi(v_i))",
                .reference = "Douillard and others: Decoupled DiLoCo for resilient distributed pre-training, 2026",
                .cost =
                    "every H steps of a learner bits(C) payload bits up and 32 d down, a P-th of them at a time, in "
                    "one message each way for each fragment; nobody waits for a slow learner, but as long as quorum "
                    "says; two more vectors of memory at the syncer, and one for each push that waits; with "
                    "anchor=current and an inexact codec one for each learner besides",
                .parameters = with_outer_step(
                    with_fragments({outer_period(),
                                    {.key = "merge",
                                     .kind = parameter::type::choice,
                                     .fallback = "rda",
                                     .meaning = "the radial-directional average of each tensor, or the weighted mean",
                                     .choices = {"rda", "mean"}},
                                    {.key = "anchor",
                                     .kind = parameter::type::choice,
                                     .fallback = "current",
                                     .meaning = "the theta_p that moves refer to: the present one, or that read last",
                                     .choices = {"current", "read"}},
                                    quorum("K, learners that an outer step waits for; 0: more than half of them"),
                                    grace("seconds from the K-th push to the outer step, unless all have come")},
                                   most_fragments))},
      .traits = {.exchange = exchange_pattern::all,
                 .synchronous = false,
                 .lr_grows = false, // the outer momentum lengthens steps already
                 .on_compute_failure = compute_failure::restart,
                 .promises = {.follows_mean_gradient = false, .sgd_alone = false}},
      .make = [](const algorithm_setup& s) -> std::unique_ptr<algorithm> {
        return std::make_unique<decoupled_learner>(s);
      },
      .masters = one_master,
      .make_master = make_syncer,
      .packs_parts = [](const arguments& given) { return given.integer("fragments") > 1; },
  };
}

} // namespace gossamer::actors
