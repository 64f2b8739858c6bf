#include "gossamer/actors/algorithms/decoupled_diloco.hpp"
#include "gossamer/actors/collectives/fragments.hpp"
#include "gossamer/actors/collectives/master.hpp"
#include "gossamer/actors/collectives/outer_step.hpp"
#include "gossamer/actors/collectives/weighted_mean.hpp"
#include "gossamer/base/error.hpp"

#include <fmt/format.h>

#include <limits>

namespace gossamer::actors {

namespace {

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

private:
  static constexpr auto unknown = std::numeric_limits<std::uint64_t>::max();

  void own_fields(archive& a) override {
    a(theta_)(versions_)(batches_)(read_)(given_)(waiting_)(ends_);
    for (auto& one : outer_)
      one.fields(a);
  }

  void hear(const frame& asked) override {
    const auto what = sync_question::from_part(asked.label.part).what;
    ends_.erase(asked.source);
    if (what >= sync_request::push_rest)
      ends_[asked.source] = what == sync_request::leave;
  }
  void begin_run() override { ends_.clear(); }
  void take(worker& w, const frame& asked) override {
    const auto question = sync_question::from_part(asked.label.part);
    if (question.what != sync_request::push_fragment && question.what != sync_request::push_rest)
      return;
    const auto p = question.fragment;
    if (p >= parts_.count())
      throw error(errc::bad_packet, fmt::format("learner {} pushes fragment {} of {}", asked.source, p, parts_.count()),
                  "all nodes of a run must be of the same version");
    vec v = w.decode(asked.body, parts_.place(p, theta_.size()).size);
    if (!remembers_readers(w))
      given_.clear();
    else if (!given_.contains(asked.source))
      read_.erase(asked.source); // with the exact codec of a run before
    if (question.steps == 0 || (remembers_readers(w) && version_read(asked.source, p) == unknown))
      return;
    if (remembers_readers(w))
      v = parts_.of(given_[asked.source], p) - v;
    auto& [latest, steps] = batches_[p][asked.source];
    latest = std::move(v);
    steps += question.steps;
    if (question.what == sync_request::push_fragment)
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
    if (!has_left(who))
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
    if (std::ranges::all_of(w.members(), [this](rank i) { return has_left(i); }))
      for (std::uint64_t p = 0; p < parts_.count(); ++p)
        close(w, p);
    else if (std::ranges::all_of(w.members(), [this](rank i) { return has_left(i) || waits(i); }))
      close(w, fullest()); // nobody else can come
  }
  /// True for a learner that has pushed all that it had.
  bool has_left(rank i) const {
    const auto found = ends_.find(i);
    return found != ends_.end() && found->second;
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
  /// The fragment with the most pushes of those that are waited for, and of these the first.
  std::uint64_t fullest() const {
    const auto rating = [this](const auto& one) { return std::pair{batches_[one.second].size(), ~one.second}; };
    return std::ranges::max_element(waiting_, {}, rating)->second;
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
    if (waited || question.what >= sync_request::push_rest)
      return answer{}; // its push counts in the last step
    if (question.what == sync_request::pull_all) {
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

  using pushed = std::pair<vec, std::uint64_t>; ///< x_i,p or D_i, and c_i

  vec theta_;
  fragments parts_;
  std::vector<std::uint64_t> versions_; ///< outer steps of each fragment
  std::vector<std::uint64_t> timed_;    ///< the version to which the fragment's grace leads; 0: none is under way
  std::vector<std::map<rank, pushed>> batches_;
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

std::unique_ptr<algorithm> make_syncer(const algorithm_setup& s) { return std::make_unique<syncer>(s); }

} // namespace gossamer::actors
