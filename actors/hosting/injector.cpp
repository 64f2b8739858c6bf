#include "gossamer/actors/hosting/injector.hpp"

#include "gossamer/actors/protocol/resolution.hpp"
#include "gossamer/base/error.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace gossamer::actors {

namespace {

constexpr double same_time_s = 1e-9; // sums of seconds are rounded

static_assert(most_coordinators == consensus::most_voters, "a plan kills as many coordinators as there can be");

std::chrono::nanoseconds nanoseconds_of(double s) {
  return std::chrono::nanoseconds(static_cast<std::int64_t>(1e9 * s));
}

/// To whole nanoseconds, so that the time has few digits in a plan file.
double rounded(double s) { return std::round(1e9 * s) / 1e9; }

class injector {
public:
  injector(caf::event_based_actor* self, injector_setup setup) : self_(self), setup_(std::move(setup)) {}

  void start(const start_faults& m) {
    node_ = m.node;
    began_ = self_->clock().now() - nanoseconds_of(m.time_s);
    live_ = board().live();
    for (std::size_t k = 0; k < board().count(); ++k)
      if (board().has(k))
        await(k, m.time_s);
    recall_who_is_away();
    leave_plan();
    if (live_)
      look({++lead_});
  }

  void stop() {
    if (!setup_.wishes)
      return;
    live_ = false;
    on_.clear();
    waiting_.clear();
    waiting_for_steps_.clear();
    away_.clear();
  }

  void begin(std::size_t index) {
    const auto f = at(index);
    board().begin(index, f.lasts_s ? now() + *f.lasts_s : fault_board::for_ever);
    tell(index, true);
    if (live_ && f.kind != fault_kind::join) // which has no end
      on_.emplace(index, now());
    else if (f.lasts_s)
      self_->delayed_send(self_, nanoseconds_of(*f.lasts_s), end_fault{index});
  }

  void end(std::size_t index) {
    board().end(index);
    tell(index, false);
  }

  void on_step(const step_report& r) {
    std::erase_if(waiting_for_steps_, [&](std::size_t k) {
      const auto named = named_workers(at(k), setup_.workers, setup_.workers_per_node);
      const bool due = r.step >= at(k).at_step && std::ranges::binary_search(named, r.source);
      if (due)
        begin(k);
      return due;
    });
  }

  /// Ends and begins what is due in a live plan.
  void look(const look_for_faults& m) {
    if (!live_ || m.lead != lead_) // of a lead that is over
      return;
    self_->delayed_send(self_, nanoseconds_of(live_poll_s), m);
    const auto wished = setup_.wishes ? setup_.wishes->take() : fault_wishes::wished{};
    std::erase_if(on_, [&](const auto& one) {
      const auto [index, since] = one;
      if (wished.heal)
        board().set_length(index, rounded(now() - since));
      const auto lasts = at(index).lasts_s;
      const bool is_over = lasts && now() + same_time_s >= since + *lasts;
      if (is_over)
        end(index);
      return is_over;
    });
    for (const auto& f : wished.faults)
      add(f);
    std::erase_if(waiting_, [&](std::size_t index) {
      const bool is_due = now() + same_time_s >= at(index).at_s;
      if (is_due)
        begin(index);
      return is_due;
    });
    if (wished.heal || !wished.faults.empty())
      leave_plan();
  }

private:
  /// @param since_s time of the run at which this injector begins its work
  void await(std::size_t index, double since_s) {
    const auto f = at(index);
    if (board().is_on(index)) {
      if (f.kind != fault_kind::join)
        on_.emplace(index, f.at_s);
      return;
    }
    if (since_s > 0 && (f.at_step || f.at_s < since_s))
      return; // it may be over
    board().await(index);
    if (f.at_step)
      waiting_for_steps_.push_back(index);
    else if (live_)
      waiting_.insert(index);
    else
      self_->delayed_send(self_, nanoseconds_of(f.at_s - since_s), begin_fault{index});
  }

  fault_board& board() const { return *setup_.board; }
  fault at(std::size_t index) const { return board().at(index); }
  double now() const { return std::chrono::duration<double>(self_->clock().now() - began_).count(); }

  void leave_plan() {
    if (setup_.wishes)
      setup_.wishes->leave(board().plan());
  }

  void add(fault f) {
    f.at_s = rounded(now());
    f.at_step.reset();
    const auto index = board().count();
    try {
      board().add(index, std::move(f));
      board().await(index);
      waiting_.insert(index);
    } catch (const error& e) {
      self_->send(node_, run_event{e.what()});
    }
  }

  void tell(std::size_t index, bool on) {
    if (setup_.on_switch)
      setup_.on_switch(index, on);
    self_->send(node_, run_event{(on ? "begins: " : "ends: ") + describe(at(index))});
    for (const auto i : struck_by(index))
      tell_about(i, index, on);
  }

  /// Returns none where whole processes are struck: no node can do that to itself.
  std::vector<rank> struck_by(std::size_t index) const {
    const auto f = at(index);
    return f.strikes_processes() ? std::vector<rank>{} : named_workers(f, setup_.workers, setup_.workers_per_node);
  }

  void tell_about(rank i, std::size_t index, bool on) {
    const auto f = at(index);
    if (f.kind == fault_kind::pause)
      self_->send(node_, pause_worker{i, on});
    else if (f.kind == fault_kind::kill && on)
      self_->send(node_, kill_worker{i, f.lasts_s.has_value()});
    else if (f.kind == fault_kind::leave && on)
      self_->send(node_, retire_worker{i});
    if (comes(i, index, on))
      self_->send(node_, restart_worker{i, true});
  }

  /// Notes what keeps a worker away. @returns true if it joins, or if this fault was the last that kept it away
  bool comes(rank i, std::size_t index, bool on) {
    const auto f = at(index);
    auto& causes = away_[i];
    if (f.kind == fault_kind::join) {
      causes.clear();
      return true;
    }
    if (!on)
      return causes.erase(index) != 0 && causes.empty();
    const bool is_master = i + setup_.masters >= setup_.workers;
    if (f.kind == fault_kind::leave || (f.kind == fault_kind::kill && (f.lasts_s || !is_master)))
      causes.insert(index);
    return false;
  }

  /// Notes what keeps workers away since the time of another leader.
  void recall_who_is_away() {
    std::vector<std::size_t> begun;
    for (std::size_t k = 0; k < board().count(); ++k)
      if (board().has(k) && board().is_on(k))
        begun.push_back(k);
    std::ranges::stable_sort(begun, {}, [this](std::size_t k) { return at(k).at_s; });
    for (const auto k : begun)
      for (const auto i : struck_by(k))
        comes(i, k, true);
  }

  caf::event_based_actor* self_;
  injector_setup setup_;
  caf::actor node_;
  caf::actor_clock::time_point began_;
  bool live_ = false;
  std::uint64_t lead_ = 0; // number of times that a live plan has begun here
  std::vector<std::size_t> waiting_for_steps_;
  std::set<std::size_t> waiting_;              // of a live plan: those that begin at a time
  std::map<std::size_t, double> on_;           // of a live plan: those that are on, since when
  std::map<rank, std::set<std::size_t>> away_; // the kills and leaves that keep a worker away
};

} // namespace

caf::behavior fault_injector(caf::event_based_actor* self, injector_setup setup) {
  auto state = std::make_shared<injector>(self, std::move(setup));
  return {
      [state](const start_faults& m) { state->start(m); },      [state](const stop_faults&) { state->stop(); },
      [state](const begin_fault& m) { state->begin(m.index); }, [state](const end_fault& m) { state->end(m.index); },
      [state](const step_report& r) { state->on_step(r); },     [state](const look_for_faults& m) { state->look(m); },
  };
}

} // namespace gossamer::actors
