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
// all have, the syncer takes a last step on what is in.
//
// Lost learners take their steps since the last push with them, and a push that waits; one that comes back pulls theta
// first. A quorum of more than all is all. A grace that is under way when the syncer dies begins again with the next
// question. A lost syncer starts anew from the state that it saved before its last answer; one that has lost its
// process begins from the theta that some worker pulled last, with u = 0, and takes no distance from an unknown model.
#include "gossamer/actors/algorithms/entries.hpp"
#include "gossamer/actors/collectives/ask.hpp"
#include "gossamer/actors/collectives/fragments.hpp"
#include "gossamer/actors/collectives/master.hpp"
#include "gossamer/actors/collectives/outer_step.hpp"
#include "gossamer/actors/collectives/weighted_mean.hpp"
#include "gossamer/base/error.hpp"

#include <fmt/format.h>

#include <limits>

namespace gossamer::actors {

namespace {

enum sync_request : std::uint32_t { pull_all, push_fragment, push_rest, leave_run };

constexpr std::uint64_t most_fragments = 1024;

/// A learner's question, as the 32 bits in the label of its frame.
struct sync_question {
  sync_request what;
  std::uint64_t fragment = 0;
  std::uint64_t steps = 0; ///< since the fragment last left; counted up to 2^20 - 1

  std::uint32_t as_part() const {
    const auto counted = std::min<std::uint64_t>(steps, (1u << 20) - 1);
    return static_cast<std::uint32_t>(counted << 12 | fragment << 2 | what);
  }
  static sync_question from_part(std::uint32_t part) {
    return {static_cast<sync_request>(part & 3), part >> 2 & (most_fragments - 1), part >> 12};
  }
};

class decoupled_learner final : public algorithm {
public:
  explicit decoupled_learner(const algorithm_setup& s)
      : theta_(s.initial), x_(s.initial), parts_(s.given, "decoupled-diloco"), left_at_(parts_.count()),
        sends_model_(s.given.is("anchor", "current")), own_share_(s.given.real32("own-share")) {}

  task<> run(worker& w) override {
    std::optional<task<frame>> answer;
    for (;;) {
      co_await exchange(w, answer);
      const bool goes_on = co_await w.next_step(t_);
      if (!goes_on)
        break;
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
      freeze(w, *p);
    if (leaves_ && !answer)
      send(w, answer);
    if (leaves_ && t_ >= left_at_[fragment_] + parts_.overlap())
      co_await adopt(w, answer);
  }

  task<> pull(worker& w) {
    const auto answer = co_await ask_for(w, pull_all);
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

  void freeze(const worker& w, std::uint64_t p) {
    fragment_ = p;
    steps_ = t_ - std::exchange(left_at_[p], t_);
    frozen_ = parts_.of(x_, p);
    if (!sends_model_ || !w.exact_codec())
      frozen_ = parts_.of(theta_, p) - frozen_;
    leaves_ = !frozen_.empty();
  }

  void send(worker& w, std::optional<task<frame>>& answer, sync_request what = push_fragment) {
    const sync_question question{what, fragment_, steps_};
    answer.emplace(ask(w, w.master(0), requests_ + 1, question.as_part(), w.encode(frozen_)));
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
        freeze(w, p);
      if (leaves_) {
        send(w, answer, push_rest);
        co_await adopt(w, answer);
      }
    }
    co_await ask_for(w, leave_run);
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
  vec frozen_;                         ///< and what is sent of it
  std::uint64_t requests_ = 0;
  bool sends_model_;
  float own_share_;
};

class syncer final : public master {
public:
  explicit syncer(const algorithm_setup& s)
      : theta_(s.initial), parts_(s.given, "decoupled-diloco"), versions_(parts_.count()), timed_(parts_.count()),
        batches_(parts_.count()), current_(s.given.is("anchor", "current")), radial_(s.given.is("merge", "rda")),
        quorum_(static_cast<std::size_t>(s.given.integer("quorum"))), grace_s_(s.given.real("grace")) {
    for (std::uint64_t p = 0; p < parts_.count(); ++p) {
      outer_.emplace_back(s.given, parts_.of(theta_, p));
      tensors_.push_back(tensors_within(s.tensors, parts_.place(p, theta_.size())));
    }
  }

  const vec& model() const override { return theta_; }
  void begin_from(worker& w, remembered_model known) override { theta_ = own_part(w, known, theta_.size()); }
  void fields(archive& a) override {
    master::fields(a);
    a(theta_)(versions_)(batches_)(read_)(given_)(waiting_)(ends_);
    for (auto& one : outer_)
      one.fields(a);
  }

private:
  static constexpr auto unknown = std::numeric_limits<std::uint64_t>::max();

  void hear(const frame& asked) override {
    const auto what = sync_question::from_part(asked.label.part).what;
    ends_.erase(asked.source);
    if (what >= push_rest)
      ends_[asked.source] = what == leave_run;
  }
  void begin_run() override { ends_.clear(); }
  void take(worker& w, const frame& asked) override {
    const auto question = sync_question::from_part(asked.label.part);
    if (question.what != push_fragment && question.what != push_rest)
      return;
    const auto p = question.fragment;
    if (p >= parts_.count())
      throw error(errc::bad_packet, fmt::format("learner {} pushes fragment {} of {}", asked.source, p, parts_.count()),
                  "all nodes of a run must be of the same version");
    vec v = w.decode(asked.body, parts_.place(p, theta_.size()).size);
    if (question.steps == 0 || (remembers_readers(w) && version_read(asked.source, p) == unknown))
      return;
    if (remembers_readers(w))
      v = parts_.of(given_[asked.source], p) - v;
    auto& [latest, steps] = batches_[p][asked.source];
    latest = std::move(v);
    steps += question.steps;
    if (question.what == push_fragment)
      waiting_[asked.source] = p;
  }
  /// The syncer needs what a learner has read to make its model of a packed distance.
  bool remembers_readers(const worker& w) const { return current_ && !w.exact_codec(); }
  std::uint64_t version_read(rank who, std::uint64_t p) const {
    const auto found = read_.find(who);
    return found == read_.end() ? unknown : found->second[p];
  }
  /// True for a learner whose push is in, and which knows the present theta_p, or must not go on without its own move.
  bool waits(rank who) const {
    const auto found = waiting_.find(who);
    const auto p = found == waiting_.end() ? unknown : found->second;
    return p != unknown && (current_ ? version_read(who, p) == versions_[p] : batches_[p].contains(who));
  }

  void forget(rank who) override {
    for (auto& batch : batches_)
      batch.erase(who);
    read_.erase(who);
    given_.erase(who);
    waiting_.erase(who);
  }

  void act(worker& w) override {
    const auto n = w.members().size();
    const auto enough = std::max<std::size_t>(std::min(quorum_ > 0 ? quorum_ : n / 2 + 1, n), 1);
    const auto trains = [this](const auto& push) { return !ends_.contains(push.first); };
    for (std::uint64_t p = 0; p < parts_.count(); ++p)
      if (std::cmp_greater_equal(std::ranges::count_if(batches_[p], trains), enough))
        has_quorum(w, p);
    const auto has_left = [this](rank i) { return ends_.contains(i) && ends_.at(i); };
    if (std::ranges::all_of(w.members(), has_left))
      for (std::uint64_t p = 0; p < parts_.count(); ++p)
        close(w, p);
    else if (std::ranges::all_of(w.members(), [&](rank i) { return has_left(i) || waits(i); }))
      close(w, fullest()); // nobody else can come
  }
  void has_quorum(worker& w, std::uint64_t p) {
    if (grace_s_ == 0)
      return close(w, p);
    if (const auto next = versions_[p] + 1; std::exchange(timed_[p], next) != next)
      w.serve(close_after_grace(w, p));
  }
  task<> close_after_grace(worker& w, std::uint64_t p) {
    const auto version = versions_[p];
    co_await w.pause(grace_s_);
    if (versions_[p] != version)
      co_return; // all others had come before
    timed_[p] = 0;
    close(w, p);
    settle(w);
  }
  std::uint64_t fullest() const {
    return static_cast<std::uint64_t>(std::ranges::max_element(batches_, {}, std::ranges::size) - batches_.begin());
  }

  /// An outer step of fragment p on all pushes that are in.
  void close(const worker& w, std::uint64_t p) {
    if (batches_[p].empty())
      return;
    vec theta = parts_.of(theta_, p);
    std::vector<weighted> all;
    for (auto& [who, push] : std::exchange(batches_[p], {}))
      all.push_back({push.first, contribution_weight(push.second * w.batch(), push.second)});
    outer_[p].step(theta, mean_model(theta, std::move(all), tensors_[p]), w.learning_rate(0));
    parts_.put(theta_, p, theta);
    ++versions_[p];
  }
  /// theta - D
  vec mean_model(const vec& theta, std::vector<weighted> all, std::span<const segment> tensors) const {
    if (current_ && !radial_)
      return weighted_mean(all);
    if (current_)
      for (auto& one : all)
        one.v = theta - one.v;
    return theta - (radial_ ? radial_directional_mean(all, tensors) : weighted_mean(all));
  }

  std::optional<answer> answer_to(worker& w, const pending_request& q) override {
    const bool waited = waits(q.from);
    if (waited && !w.over())
      return std::nullopt;
    waiting_.erase(q.from);
    const auto question = sync_question::from_part(q.label.part);
    if (waited || question.what >= push_rest)
      return answer{}; // its push counts in the last step
    if (question.what == pull_all) {
      read_[q.from] = versions_;
      if (remembers_readers(w))
        given_[q.from] = theta_;
      return answer{.body = w.encode_exactly(theta_)};
    }
    const auto p = question.fragment;
    const vec theta = parts_.of(theta_, p);
    read_.try_emplace(q.from, parts_.count(), unknown).first->second[p] = versions_[p];
    if (remembers_readers(w))
      parts_.put(given_.try_emplace(q.from, theta_).first->second, p, theta);
    return answer{.body = w.encode_exactly(theta)};
  }

  using push = std::pair<vec, std::uint64_t>; ///< x_i,p or D_i, and c_i

  vec theta_;
  fragments parts_;
  std::vector<std::uint64_t> versions_; ///< outer steps of each fragment
  std::vector<std::uint64_t> timed_;    ///< the version to which the fragment's grace leads; 0: none is under way
  std::vector<std::map<rank, push>> batches_;
  std::map<rank, std::vector<std::uint64_t>> read_; ///< versions that learners have read last
  std::map<rank, vec> given_;                       ///< and the models, where `remembers_readers`
  std::map<rank, std::uint64_t> waiting_;           ///< fragments that unanswered learners have pushed
  std::map<rank, bool> ends_; ///< learners that have done their last step: true if they have pushed all that they had
  std::vector<outer_optimiser> outer_;
  std::vector<std::vector<segment>> tensors_; ///< in each fragment
  bool current_, radial_;
  std::size_t quorum_; ///< 0: more than half of the members
  double grace_s_;
};

} // namespace

const algorithm_entry decoupled_diloco_entry{
    .about = {.name = "decoupled-diloco",
              .summary = "DiLoCo of learners that are not waited for, in fragments, by a quorum and with weights",
              .maths = "learner: x_i <- x_i - gamma_t u_i(grad F_i(x_i; xi_i,t))\n"
                       "every H steps, for each fragment p in turn: push x_i,p (anchor=read, or an inexact C:\n"
                       "C(theta_p - x_i,p));  tau steps later x_i,p <- alpha x_i,p + (1 - alpha) theta_p\n"
                       "syncer, with K pushes of p: D = merge of theta_p - x_i,p with weights samples_i^2 / steps_i;\n"
                       "u_p <- mu u_p + D;  theta_p <- theta_p - eta (D + mu u_p)\n"
                       "merge=rda, for each tensor, phi(v) = v / |v|: (sum w_i |v_i| / sum w_i) phi(sum w_i phi(v_i))",
              .reference = "Douillard and others: Decoupled DiLoCo for resilient distributed pre-training, 2026",
              .cost = "every H steps of a learner bits(C) payload bits up and 32 d down, a P-th of them at a time, in "
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
    .make_master = [](const algorithm_setup& s) -> std::unique_ptr<algorithm> { return std::make_unique<syncer>(s); },
    .packs_parts = [](const arguments& given) { return given.integer("fragments") > 1; },
};

} // namespace gossamer::actors
