#pragma once

#include "gossamer/actors/runtime/coordination.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

namespace gossamer::actors {

using event = std::variant<run_progress, holding, worker_joined, worker_finished, worker_lost, model_came>;

/// Hands the fields of a plain struct to an archive.
struct into_archive {
  archive& to;
  template <class... Fields>
  void operator()(Fields&... fields) {
    (one(fields), ...);
  }
  void one(view_change& v) { inspect(*this, v); }
  template <class Field>
  void one(Field& field) {
    if constexpr (requires { to(field); })
      to(field);
  }
};

template <class... On>
struct overloaded : On... {
  using On::operator()...;
};
template <class... On>
overloaded(On...) -> overloaded<On...>; // which clang 14 does not find by itself

/// How often each of these may happen.
struct mischief {
  std::uint32_t deaths = 0, returns = 0, pauses = 0, stops = 0;
};

/// A worker or master that only counts its steps.
struct party {
  bool up = true, ready = true, held = false, finished = false, paused = false;
  std::uint32_t life = 0, view = 1;
  std::uint64_t step = 0, limit = 0;
  std::optional<rank> donor;
  std::vector<order> mail; ///< of the coordination
};

/// A coordination among parties that do nothing but follow it. Messages of one party to another keep their order;
/// deaths, returns, pauses and a stop come at any moment. What must hold in every run is asked for on the way.
class parties {
public:
  parties(const experiment& e, mischief may)
      : run_(&e), may_(may), coordination_(e), party_(e.participants()), said_(e.participants()) {
    for (auto& p : party_)
      p.limit = synchronous() ? e.steps_per_worker : e.steps_per_worker * e.settings.workers;
  }

  /// Everything that could happen now.
  std::vector<std::function<void(parties&)>> possible() const {
    std::vector<std::function<void(parties&)>> all;
    for (std::size_t i = 0; i < said_.size(); ++i)
      if (!said_[i].empty())
        all.emplace_back([i](parties& p) { p.hear(i); });
    for (rank i = 0; i < party_.size(); ++i) {
      const auto& p = party_[i];
      if (p.up && !p.paused)
        add_moves_of(i, p, all);
      if (p.up && may_.deaths > 0)
        for (const bool comes_back : {false, true})
          all.emplace_back([i, comes_back](parties& w) { w.kill(i, comes_back); });
      if (p.up && !p.paused && may_.pauses > 0)
        all.emplace_back([i](parties& w) { --w.may_.pauses, w.party_[i].paused = true; });
      if (returning_.contains(i) && may_.returns > 0)
        all.emplace_back([i](parties& w) { w.bring_back(i); });
    }
    if (may_.stops > 0)
      all.emplace_back([](parties& w) { w.stop(); });
    return all;
  }

  /// When nothing can happen any more: a run that waits for somebody in vain is stopped, and then ends in time.
  void be_patient() {
    const bool waits_for_somebody = std::ranges::any_of(party_, &party::paused) || !returning_.empty();
    EXPECT_TRUE(over() || waits_for_somebody) << "it waits for nobody";
    on(stop_run{run_end::seconds, now_s_});
    for (const double s : {9.9, 0.1, 1.0, 9.0, 0.1}) {
      settle();
      now_s_ += s;
      on(time_is{now_s_});
    }
    settle();
    EXPECT_TRUE(over()) << "neither a stop nor the time ends it";
  }

  bool over() const { return ended_.has_value(); }
  const order& ended() const { return *ended_; }

  std::string bytes() {
    archive_writer all;
    coordination_.fields(all);
    all(may_.deaths)(may_.returns)(may_.pauses)(may_.stops)(updates_)(returning_);
    for (auto& p : party_) {
      std::uint32_t donor = p.donor.value_or(nobody);
      all(p.up)(p.ready)(p.held)(p.finished)(p.paused)(p.life)(p.view)(p.step)(p.limit)(donor);
      write(all, p.mail);
    }
    for (auto& queue : said_)
      write(all, queue);
    return {reinterpret_cast<const char*>(all.bytes().data()), all.bytes().size()};
  }

  /// Goes on with what was saved and read again.
  void save_and_restore() {
    archive_writer saved;
    coordination_.fields(saved);
    coordination other{*run_};
    archive_reader reader{saved.bytes(), buffer_pool{}};
    other.fields(reader);
    reader.finish();
    archive_writer again;
    other.fields(again);
    EXPECT_EQ(saved.bytes(), again.bytes());
    coordination_ = other;
  }

private:
  bool synchronous() const { return run_->algorithm->traits.synchronous; }
  bool is_master(rank i) const { return i >= run_->settings.workers; }
  bool can_step(rank i, const party& p) const { return p.ready && !p.held && !is_master(i) && p.step < p.limit; }

  void add_moves_of(rank i, const party& p, std::vector<std::function<void(parties&)>>& all) const {
    if (!p.mail.empty())
      all.emplace_back([i](parties& w) { w.read(i); });
    if (can_step(i, p))
      all.emplace_back([i](parties& w) { w.step(i); });
    if (p.ready && !p.finished && (is_master(i) ? p.limit == 0 : p.step >= p.limit))
      all.emplace_back([i](parties& w) { w.finish(i); });
    if (p.donor && party_[*p.donor].up && party_[*p.donor].ready && !party_[*p.donor].paused)
      all.emplace_back([i](parties& w) { w.take_state(i); });
  }

  template <class Messages>
  static void write(archive& all, Messages& queue) {
    into_archive fields{all};
    for (auto& m : queue) {
      std::uint64_t which = m.index();
      all(which);
      std::visit(overloaded{[](end_run&) {}, [](stop_run&) {},
                            [&](model_came& x) { all(x.source)(x.incarnation)(x.evaluation); },
                            [&](forget_worker& x) { all(x.who); }, [&](run_failed&) {},
                            [&](auto& x) { inspect(fields, x); }},
                 m);
    }
  }

  // -- what parties do ------------------------------------------------------------------------------------------------

  void say(rank i, event what) { said_[i].push_back(std::move(what)); }

  void step(rank i) {
    auto& p = party_[i];
    ++p.step;
    if (!synchronous())
      say(i, run_progress{++updates_});
  }
  void finish(rank i) {
    party_[i].finished = true;
    say(i, worker_finished{i, party_[i].life});
  }
  void take_state(rank i) {
    auto& p = party_[i];
    p.ready = true;
    p.finished = false;
    p.step = std::max(p.step, party_[*std::exchange(p.donor, std::nullopt)].step);
    say(i, worker_joined{i, p.life, p.step});
  }

  void read(rank i) {
    auto& p = party_[i];
    const auto m = std::move(p.mail.front());
    p.mail.erase(p.mail.begin());
    std::visit(overloaded{[&](const hold_steps& h) {
                            p.held = true;
                            say(i, holding{i, p.life, h.round, p.step, p.step});
                          },
                          [&](const decision& d) { adopt(i, p, d); },
                          [&](const snapshot_request& s) {
                            say(i, model_came{i, p.life, s.evaluation});
                          },
                          [](const auto&) {}},
               m);
  }

  void adopt(rank i, party& p, const decision& d) {
    p.held = false;
    p.limit = std::min(p.limit, d.limit);
    if (d.view.number == p.view)
      return;
    EXPECT_GT(d.view.number, p.view);
    p.view = d.view.number;
    if (!is_master(i) && d.view.donors.contains(i) && !(p.ready && p.step >= d.view.first_step)) {
      p.ready = false;
      p.donor = d.view.donors.at(i);
    } else {
      p.ready = true; // also one that was a round behind others, which have all been lost
      p.donor.reset();
    }
  }

  // -- what happens to them -------------------------------------------------------------------------------------------

  void kill(rank i, bool comes_back) {
    --may_.deaths;
    if (comes_back)
      returning_.insert(i);
    on(kill_worker{i, comes_back});
  }
  void bring_back(rank i) {
    --may_.returns;
    returning_.erase(i);
    on(restart_worker{i});
  }
  void stop() {
    --may_.stops;
    on(stop_run{run_end::seconds, now_s_});
  }

  void settle() {
    may_ = {};
    for (auto all = possible(); !all.empty(); all = possible())
      all.front()(*this);
  }

  // -- the shell ------------------------------------------------------------------------------------------------------

  void hear(std::size_t from) {
    const auto m = std::move(said_[from].front());
    said_[from].erase(said_[from].begin());
    std::visit([this](const auto& what) { on(what); }, m);
  }

  template <class Event>
  void on(const Event& what) {
    const bool was_over = coordination_.over();
    for (const auto& o : coordination_.on(what)) {
      EXPECT_TRUE(!was_over || std::holds_alternative<stop_worker>(o)) << "orders after the end";
      obey(o);
    }
    EXPECT_EQ(over(), coordination_.over());
  }

  void obey(const order& o) {
    std::visit(overloaded{[&](const start_worker& m) { start(m); }, [&](const stop_worker& m) { die(m.who); },
                          [](const forget_worker&) {}, [&](const end_run& m) { end(m); },
                          [&](const run_failed& m) { fail(m); }, [&](const decision& m) { decide(m); },
                          [&](const auto& m) { tell_all(m); }},
               o);
  }

  void tell_all(const order& m) {
    for (const auto i : coordination_.members().living())
      party_[i].mail.push_back(m);
  }

  void decide(const decision& d) {
    EXPECT_EQ(d.number, ++decisions_) << "a decision is missing";
    for (const auto& [joiner, donor] : d.view.donors)
      EXPECT_TRUE(d.view.lives.contains(joiner) && d.view.lives.contains(donor) && joiner != donor);
    for (const auto& [i, life] : d.view.lives)
      EXPECT_TRUE(synchronous() || !lives_.contains(i) || lives_.at(i) == life) << "a loss that nobody was told of";
    lives_ = d.view.lives;
    tell_all(d);
  }

  void die(rank i) {
    auto& p = party_[i];
    if (p.up)
      say(i, worker_lost{i, p.life});
    p.up = false;
    p.mail.clear();
  }

  void start(const start_worker& m) {
    auto& p = party_[m.who];
    EXPECT_FALSE(p.up) << "two lives at once";
    EXPECT_EQ(m.incarnation, p.life + 1);
    p = {.ready = false, .life = m.incarnation, .view = 0, .limit = p.limit, .donor = {}, .mail = {}};
    p.limit = std::numeric_limits<std::uint64_t>::max(); // as the next decision says
  }

  void end(const end_run& m) {
    EXPECT_FALSE(over());
    EXPECT_TRUE(m.why != run_end::planned || m.unfinished == 0) << "nobody was in a hurry";
    for (const auto i : m.missing)
      EXPECT_FALSE(is_master(i)) << "a part of the model is missing";
    ended_ = m;
  }

  void fail(const run_failed& m) {
    EXPECT_FALSE(over());
    const bool extinct = !coordination_.members().anybody_ready();
    const bool too_late = now_s_ > 10;
    EXPECT_TRUE(extinct || too_late) << m.sentence;
    ended_ = m;
  }

  const experiment* run_;
  mischief may_;
  coordination coordination_;
  std::vector<party> party_;
  std::vector<std::vector<event>> said_; ///< to the coordination, by each party
  std::set<rank> returning_;
  std::uint64_t updates_ = 0;
  std::uint32_t decisions_ = 0;
  std::map<rank, std::uint32_t> lives_; ///< in the last view
  double now_s_ = 0;
  std::optional<order> ended_;
};

} // namespace gossamer::actors
