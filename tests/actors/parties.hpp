#pragma once

#include "gossamer/actors/agreement/inspecting_archive.hpp"
#include "gossamer/actors/agreement/node_protocol.hpp"
#include "gossamer/actors/node/world.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

namespace gossamer::actors {

// Letters that are under way are part of a world's state.
template <class Inspector>
decltype(auto) inspect(Inspector& f, hold_steps& m) {
  return f(m.round, m.left_out);
}
template <class Inspector>
decltype(auto) inspect(Inspector& f, worker_holds& m) {
  return f(m.source, m.incarnation, m.round, m.step, m.next_exchange);
}

/// Messages of a party to its node, and of a node to its parties.
using news = std::variant<run_progress, worker_holds, worker_joined, worker_finished, worker_lost, model_came>;
using letter = std::variant<hold_steps, decision, snapshot_request>;

template <class... On>
struct overloaded : On... {
  using On::operator()...;
};
template <class... On>
overloaded(On...) -> overloaded<On...>; // clang 14 does not deduce this guide by itself

/// Maximum number of each event.
struct mischief {
  std::uint32_t deaths = 0, returns = 0, pauses = 0, stops = 0, saves = 0;
};

/// A worker or master that only counts its steps.
struct party {
  bool up = false, ready = true, held = false, finished = false, paused = false;
  bool has_model = true; ///< true also for a worker that is a round behind the ready ones
  std::uint32_t life = 0, view = 1;
  std::uint64_t step = 0, limit = 0;
  std::optional<rank> donor;
  std::vector<letter> mail; ///< messages of the node
};

/// The protocol of a node that hosts all workers and masters, among parties that do nothing but follow it. Messages of
/// one party to the node keep their order, and so do those of the node to a party. Deaths, returns, pauses, a stop and
/// checkpoints come at any moment. Checks on the way what must hold in every run.
class parties {
public:
  parties(const experiment& e, mischief may)
      : run_(&e), may_(may),
        rules_(charter_of(e, 1, std::vector<std::uint32_t>(e.participants()), std::chrono::seconds(10))),
        node_(e, *rules_, 0, founding_of(e, *rules_, {{0, {}}})), party_(e.participants()), said_(e.participants()) {
    obey(node_.begin());
    for (auto& p : party_)
      p.limit = node_.delegate().last().what.limit;
  }

  /// Returns every event that could happen now.
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
    if (may_.saves > 0)
      all.emplace_back([](parties& w) { w.save(); });
    return all;
  }

  /// Call when no event can happen any more. Stops a run that waits in vain, and expects it to end in time.
  void be_patient() {
    const bool waits_for_somebody = std::ranges::any_of(party_, &party::paused) || !returning_.empty();
    EXPECT_TRUE(over() || waits_for_somebody) << "it waits for nobody";
    in_leader(stop_run{run_end::seconds, now_s_});
    for (const double s : {9.9, 0.1, 1.0, 9.0, 0.1}) {
      settle();
      now_s_ += s;
      on(time_is{now_s_});
    }
    settle();
    EXPECT_TRUE(over()) << "neither a stop nor the time ends it";
  }

  bool over() const { return ended_.has_value(); }
  const std::variant<end_run, run_failed>& ended() const { return *ended_; }

  std::string bytes() {
    archive_writer all;
    node_.fields(all);
    all(may_.deaths)(may_.returns)(may_.pauses)(may_.stops)(may_.saves)(updates_)(returning_);
    for (auto& p : party_) {
      std::uint32_t donor = p.donor.value_or(nobody);
      all(p.up)(p.ready)(p.held)(p.finished)(p.paused)(p.has_model)(p.life)(p.view)(p.step)(p.limit)(donor);
      write(all, p.mail);
    }
    for (auto& queue : said_)
      write(all, queue);
    return {reinterpret_cast<const char*>(all.bytes().data()), all.bytes().size()};
  }

  /// Replaces the node's protocol with a saved and restored copy.
  void save_and_restore() {
    archive_writer saved;
    node_.fields(saved);
    node_protocol other{*run_, *rules_, 0, founding_of(*run_, *rules_, {{0, {}}})};
    archive_reader reader{saved.bytes(), buffer_pool{}};
    other.fields(reader);
    reader.finish();
    archive_writer again;
    other.fields(again);
    EXPECT_EQ(saved.bytes(), again.bytes());
    node_ = other;
  }

private:
  bool synchronous() const { return run_->algorithm->traits.synchronous; }
  bool is_master(rank i) const { return i >= run_->settings.workers; }
  bool can_step(rank i, const party& p) const { return p.ready && !p.held && !is_master(i) && p.step < p.limit; }
  bool takes_part(rank i) const { return party_[i].up && party_[i].ready; }
  bool can_give(rank i) const { return takes_part(i) && !party_[i].paused; }

  void add_moves_of(rank i, const party& p, std::vector<std::function<void(parties&)>>& all) const {
    if (!p.mail.empty())
      all.emplace_back([i](parties& w) { w.read(i); });
    if (can_step(i, p))
      all.emplace_back([i](parties& w) { w.step(i); });
    if (p.ready && !p.finished && (is_master(i) ? p.limit == 0 : p.step >= p.limit))
      all.emplace_back([i](parties& w) { w.finish(i); });
    if (p.donor && !p.held && can_give(*p.donor))
      all.emplace_back([i](parties& w) { w.take_state(i); });
  }

  template <class Messages>
  static void write(archive& all, Messages& queue) {
    consensus::inspecting_archive fields{all};
    for (auto& m : queue) {
      std::uint64_t which = m.index();
      all(which);
      std::visit(
          overloaded{[&](model_came& x) { all(x.source)(x.incarnation)(x.evaluation); }, [&](auto& x) { fields(x); }},
          m);
    }
  }

  /// True if a report that it has taken a model is under way.
  bool has_yet_to_say_so(rank i) const {
    return std::ranges::any_of(said_[i], [](const auto& m) { return std::holds_alternative<worker_joined>(m); });
  }

  // -- moves of parties -----------------------------------------------------------------------------------------------

  void say(rank i, news what) { said_[i].push_back(std::move(what)); }

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
    p.ready = p.has_model = true;
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
                            say(i, worker_holds{i, p.life, h.round, p.step, p.step});
                          },
                          [&](const decision& d) { adopt(i, p, d); },
                          [&](const snapshot_request& s) {
                            say(i, model_came{i, p.life, s.evaluation});
                          }},
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
      p.ready = true; // true also for a worker that was a round behind others which have all been lost
      p.donor.reset();
    }
  }

  // -- faults ---------------------------------------------------------------------------------------------------------

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
    in_leader(stop_run{run_end::seconds, now_s_});
  }
  void save() {
    --may_.saves;
    in_leader(checkpoint_due{});
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
    std::visit(overloaded{[this](const run_progress& what) { in_leader(what); },
                          [this](const model_came& what) { in_leader(what); }, [this](const auto& what) { on(what); }},
               m);
  }

  template <class Event>
  void on(const Event& what) {
    obey(node_.on(what));
  }
  template <class Event>
  void in_leader(const Event& what) {
    obey(node_.in_leader(what));
  }

  void obey(const node_protocol::orders& all) {
    for (const auto& o : all)
      std::visit([this](const auto& one) { obey(one); }, o);
    EXPECT_EQ(over(), node_.leader()->over());
  }

  void obey(const start_worker& m) {
    auto& p = party_[m.who];
    EXPECT_FALSE(p.up) << "two lives at once";
    const bool begins = m.incarnation == 0;
    EXPECT_TRUE(begins || m.incarnation > p.life) << "a life that was there before";
    p = {.up = true, .ready = begins, .has_model = begins, .life = m.incarnation, .donor = {}, .mail = {}};
    p.view = begins ? 1 : 0;
    p.limit = std::numeric_limits<std::uint64_t>::max(); // until the next decision
  }
  void obey(const stop_worker& m) {
    auto& p = party_[m.who];
    if (p.up)
      say(m.who, worker_lost{m.who, p.life});
    p.up = false;
    p.mail.clear();
  }
  void obey(const hold_steps& m) {
    for (auto& p : party_)
      if (p.up)
        p.mail.emplace_back(m);
  }
  void obey(const decision& d) {
    EXPECT_EQ(d.number, ++decisions_) << "a decision is missing";
    for (const auto& [joiner, donor] : d.view.donors) {
      EXPECT_TRUE(d.view.lives.contains(joiner) && d.view.lives.contains(donor) && !d.view.donors.contains(donor));
      EXPECT_TRUE(!is_master(joiner) && !is_master(donor)) << "masters have states of their own";
    }
    const bool saves = std::exchange(save_at_, d.save_at) != d.save_at;
    for (rank i = 0; i < party_.size(); ++i)
      EXPECT_TRUE(!saves || !takes_part(i) || party_[i].step < d.save_at) << i << " has begun that step";
    for (const auto& [i, life] : d.view.lives) {
      EXPECT_EQ(party_[i].life, life) << "a life that does not begin";
      if (party_[i].up)
        party_[i].mail.emplace_back(d);
    }
  }
  void obey(const snapshot_request& m) {
    EXPECT_FALSE(over()) << "orders after the end";
    for (auto& p : party_)
      if (p.up)
        p.mail.emplace_back(m);
  }
  void obey(const restart_worker& m) {
    EXPECT_FALSE(over()) << "orders after the end";
    on(m);
  }
  void obey(const save_checkpoint&) { EXPECT_FALSE(over()) << "orders after the end"; }
  void obey(const forget_worker&) { EXPECT_FALSE(over()) << "orders after the end"; }
  void obey(const welcome_worker&) { EXPECT_FALSE(over()) << "orders after the end"; }
  void obey(const end_run& m) {
    EXPECT_FALSE(over());
    EXPECT_TRUE(m.why != run_end::planned || m.unfinished == 0) << "nobody was in a hurry";
    for (const auto i : m.missing)
      EXPECT_FALSE(is_master(i)) << "a part of the model is missing";
    ended_ = m;
  }
  void obey(const run_failed& m) {
    EXPECT_FALSE(over());
    bool somebody_has_a_model = false;
    for (rank i = 0; i < run_->settings.workers; ++i)
      somebody_has_a_model |= party_[i].up && party_[i].has_model && !has_yet_to_say_so(i);
    const bool too_late = now_s_ > 10;
    EXPECT_TRUE(!somebody_has_a_model || too_late) << m.sentence;
    ended_ = m;
  }
  template <class Order> // a post, a report, a change of the leader: no other node exists
  void obey(const Order&) {
    ADD_FAILURE() << "an order for another node";
  }

  const experiment* run_;
  mischief may_;
  std::shared_ptr<const consensus::charter> rules_;
  node_protocol node_;
  std::vector<party> party_;
  std::vector<std::vector<news>> said_; ///< messages to the node, by party
  std::set<rank> returning_;
  std::uint64_t updates_ = 0, save_at_ = 0;
  std::uint32_t decisions_ = 1; // counts the founding decision
  double now_s_ = 0;
  std::optional<std::variant<end_run, run_failed>> ended_;
};

} // namespace gossamer::actors
