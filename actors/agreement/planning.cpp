#include "gossamer/actors/agreement/planning.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace gossamer::actors::consensus {

namespace {

enum class rounds { finish, repeat, none };

rounds rounds_of(const algorithm_traits& traits) {
  if (!traits.synchronous)
    return rounds::none;
  return traits.on_loss == interrupted_round::finish ? rounds::finish : rounds::repeat;
}

/// One decision in the making.
class draft {
public:
  draft(rounds what, std::size_t workers, std::optional<std::uint64_t> planned_updates,
        const topology::islands& islands, const findings& found)
      : rounds_(what), workers_(workers), planned_updates_(planned_updates), islands_(islands), found_(found),
        next_(found.last.what) {
    for (const auto& w : found_.workers) {
      if (is_master(w))
        continue;
      if (is_current(w) && has_model(w))
        abreast_.push_back(&w);
      if (w.line != 0 && (best_ == nullptr || std::tie(best_->line, best_->step) < std::tie(w.line, w.step)))
        best_ = &w;
    }
    ++next_.number;
  }

  std::optional<decision> finish() {
    if (best_ == nullptr)
      return std::nullopt;
    if (found_.stop)
      next_.limit = rounds_ == rounds::none ? 0 : std::min(next_.limit, last_step() + 1);
    if (found_.save && rounds_ != rounds::none)
      next_.save_at = last_step() + 1;
    part();
    if (changed())
      change_view();
    return next_;
  }

private:
  const view_change& last_view() const { return found_.last.what.view; }
  bool is_master(const standing& w) const { return w.who >= workers_; }
  bool has_model(const standing& w) const { return w.line == found_.last.number(); }
  /// A master's state is its own, whatever has been resolved since it had one.
  bool has_state(const standing& w) const { return is_master(w) ? w.line != 0 : has_model(w); }
  bool is_member(rank i, std::uint32_t incarnation) const {
    const auto found = last_view().lives.find(i);
    return found != last_view().lives.end() && found->second == incarnation;
  }
  /// A process that was just started reports 0 as incarnation and line of its workers; a founder has a model.
  bool is_current(const standing& w) const {
    return !w.ended && is_member(w.who, w.incarnation) && (w.incarnation != 0 || w.line != 0);
  }

  /// Lets workers that are to leave pause, and lets them go once they have. No worker leaves while another waits for a
  /// state, or while the run is stopped.
  void part() {
    const auto last = std::exchange(next_.parting, {});
    std::vector<rank> leaving, staying;
    for (const auto* w : abreast_)
      (w->retires ? leaving : staying).push_back(w->who);
    const bool all_have_models =
        std::ranges::all_of(found_.workers, [this](const auto& w) { return is_current(w) && has_state(w); });
    if (leaving.empty() || staying.empty() || !all_have_models || changed() || found_.stop || found_.last.stopping)
      return;
    const bool is_known = std::ranges::all_of(leaving, [&](rank i) { return last.heirs.contains(i); });
    const bool all_have_paused = std::ranges::all_of(abreast_, [&](const auto* w) { return has_paused(*w, last); });
    for (const auto* w : abreast_)
      if (w->retires && (rounds_ == rounds::none ? has_paused(*w, last) : is_known && all_have_paused))
        gone_.insert(w->who);
    std::erase_if(abreast_, [this](const auto* w) { return gone_.contains(w->who); });
    std::erase_if(leaving, [this](rank i) { return gone_.contains(i); });
    paused_before_ = last.at;
    if (rounds_ != rounds::none && !leaving.empty())
      next_.parting.at = is_known ? last.at : last_step() + 1;
    for (const auto i : leaving) {
      const auto above = std::ranges::upper_bound(staying, i);
      next_.parting.heirs.emplace(i, above == staying.end() ? staying.front() : *above);
    }
  }
  /// In rounds all workers pause. Otherwise only leaving workers do, one by one: a master may wait for a paused worker
  /// before it answers others.
  bool has_paused(const standing& w, const parting& last) const {
    return w.paused && w.step >= last.at && (rounds_ != rounds::none || last.heirs.contains(w.who));
  }

  bool changed() const {
    if (!gone_.empty() || found_.workers.size() != last_view().lives.size())
      return true;
    return !std::ranges::all_of(found_.workers,
                                [this](const auto& w) { return is_current(w) && (has_state(w) || is_served(w)); });
  }
  /// True if the worker waits for a state, and its donor lives.
  bool is_served(const standing& w) const {
    const auto donor = last_view().donors.find(w.who);
    return donor != last_view().donors.end()
           && std::ranges::any_of(abreast_, [&](const auto* other) { return other->who == donor->second; });
  }

  std::uint64_t last_step() const {
    std::uint64_t result = abreast_.empty() ? best_->step : 0;
    for (const auto* w : abreast_)
      result = std::max(result, w->step);
    return result;
  }
  static std::uint64_t progress(const standing& w) { return std::max(w.step, w.next_exchange); }
  std::uint64_t first_step() const {
    if (rounds_ == rounds::none)
      return 0;
    if (abreast_.empty())
      return best_->step;
    if (!gone_.empty() && rounds_ == rounds::finish)
      return paused_before_;
    if (rounds_ == rounds::finish)
      return last_step() + 1;
    std::uint64_t result = 0;
    for (const auto* w : abreast_)
      result = std::max(result, progress(*w));
    return result;
  }

  void change_view() {
    auto& view = next_.view;
    ++view.number;
    view.first_step = std::min(first_step(), next_.limit);
    view.lives.clear();
    view.donors.clear();
    for (const auto& w : found_.workers) {
      if (gone_.contains(w.who))
        continue;
      view.lives.emplace(w.who, keeps_its_life(w) ? w.incarnation : next_.number);
    }
    choose_donors();
    if (rounds_ != rounds::none)
      count_on();
  }
  /// Chooses in turn, so that no donor serves all.
  void choose_donors() {
    std::vector<rank> donors, without_state;
    for (const auto& w : found_.workers) {
      if (gone_.contains(w.who))
        continue;
      if (!goes_on(w))
        without_state.push_back(w.who);
      else if (!is_master(w))
        donors.push_back(w.who);
    }
    std::map<std::size_t, std::vector<rank>> of_island;
    for (const auto i : without_state)
      of_island[islands_.of(i)];
    for (const auto i : donors)
      if (const auto island = of_island.find(islands_.of(i)); island != of_island.end())
        island->second.push_back(i);
    std::size_t from_afar = 0, served = 0;
    for (const auto i : without_state) {
      auto& near = of_island[islands_.of(i)];
      if (near.empty())
        near = {donors[from_afar++ % donors.size()]};
      next_.view.donors.emplace(i, near[served++ % near.size()]);
    }
  }
  /// Continues the count of updates where it is: from some step on, each has other workers. That is the first of the
  /// view, or, where rounds are repeated, the step that the others are in: they go on alone, and newcomers with them,
  /// until the exchange with which the view begins. Computes in doubles, because products of peers' numbers may be too
  /// large for integers.
  void count_on() {
    auto& view = next_.view;
    const auto before = workers_in(last_view()), after = workers_in(view);
    const auto from = rounds_ == rounds::repeat ? std::min(last_step(), view.first_step) : view.first_step;
    const auto done = static_cast<double>(view.updates_ahead) + static_cast<double>(from) * before;
    const auto most = static_cast<double>(view_change::most_updates_ahead);
    view.updates_ahead = std::llround(std::clamp(done - static_cast<double>(from) * after, -most, most));
    const auto behind_this_one = last_step() + 1;
    if (!planned_updates_ || before == after || found_.stop || found_.last.stopping || behind_this_one >= next_.limit)
      return;
    const auto left = std::max((static_cast<double>(*planned_updates_) - done) / after, 0.0);
    next_.limit = std::max(behind_this_one, from + static_cast<std::uint64_t>(std::llround(left)));
  }
  double workers_in(const view_change& v) const {
    return static_cast<double>(
        std::ranges::count_if(v.lives, [this](const auto& one) { return one.first < workers_; }));
  }
  /// True if the worker goes on from the state that it has.
  bool goes_on(const standing& w) const {
    if (is_master(w))
      return has_state(w);
    if (abreast_.empty())
      return &w == best_;
    return is_current(w) && has_model(w) && (rounds_ != rounds::repeat || progress(w) >= next_.view.first_step);
  }
  /// A worker that had been promised a state loses its life where rounds are finished: such a round may wait for that
  /// life.
  bool keeps_its_life(const standing& w) const {
    return is_current(w) && (rounds_ != rounds::finish || has_model(w) || goes_on(w));
  }

  rounds rounds_;
  std::size_t workers_;
  std::optional<std::uint64_t> planned_updates_;
  const topology::islands& islands_;
  const findings& found_;
  decision next_;
  std::vector<const standing*> abreast_; ///< members that have the model of the last resolution
  const standing* best_ = nullptr;
  std::set<rank> gone_;             ///< workers that leave with this decision
  std::uint64_t paused_before_ = 0; ///< the step before which they have paused
};

} // namespace

planning membership_rules(const algorithm_traits& traits, std::size_t workers,
                          std::optional<std::uint64_t> planned_updates, topology::islands islands) {
  return [what = rounds_of(traits), workers, planned_updates, islands = std::move(islands)](const findings& found) {
    return draft{what, workers, planned_updates, islands, found}.finish();
  };
}

} // namespace gossamer::actors::consensus
