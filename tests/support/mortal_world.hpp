#pragma once

#include "gossamer/actors/agreement/node_protocol.hpp"
#include "gossamer/actors/evaluation/progress_meter.hpp"
#include "gossamer/actors/frames/connections.hpp"
#include "gossamer/actors/hosting/messages.hpp"
#include "gossamer/actors/run/view_maker.hpp"
#include "gossamer/actors/worker/hosted_worker.hpp"

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "auditing_witness.hpp"

namespace gossamer::testing_support {

/// A death at a number of events. With `leaves`, a worker or its process is asked to leave instead.
struct death {
  actors::rank who = 0;
  std::size_t at = 0;
  std::optional<std::size_t> back_after = {};
  bool leaves = false;
};

/// Places in which workers live.
enum class dwelling {
  together, ///< in one process; workers die
  apart,    ///< each in a process of its own; processes die, the leader too
};

/// Workers and masters that die and come back, and nodes that react to that, in one thread and without actors. An event
/// is the handling of one message, or one gradient. A seeded generator picks the next of the possible events. Messages
/// of one party to another keep their order; everything else may overtake everything else, also the news of a death.
/// Time goes on when no other event is possible. An auditor checks everything. The same seed and deaths give the same
/// run.
class mortal_world {
public:
  /// @param stop_at event at which the run is stopped as by `--seconds`
  mortal_world(std::shared_ptr<const actors::experiment> e, std::uint64_t seed, std::vector<death> deaths,
               std::optional<std::size_t> stop_at = std::nullopt, dwelling where = dwelling::together)
      : run_(std::move(e)), deaths_(std::move(deaths)), stop_at_(stop_at), where_(where), views_(*run_),
        choice_(random_stream{seed, 0, purpose::interleaving}, 0) {
    found();
    check_.emplace(run_->settings.worker_ranks(), run_->averages_pairs(), run_->last_step_beside(), run_->masters);
    witness_.check = &*check_;
    lives_.resize(participants());
    saved_.resize(participants());
  }

  /// Runs until no event is possible.
  /// @returns true if a leader has ended the run, with models
  bool run() {
    for (std::size_t n = 0; n < nodes_.size(); ++n)
      obey(n, nodes_[n]->protocol.begin());
    for (auto& n : lives_)
      n->meet(everybody(home_of(n->id)));
    for (;; ++events_) {
      for (const auto& d : deaths_) {
        if (d.at == events_)
          d.leaves ? retire(d.who) : kill(d.who);
        if (d.back_after && d.at + *d.back_after == events_)
          bring_back(d.who);
      }
      if (stop_at_ == events_)
        for (std::size_t n = 0; n < nodes_.size(); ++n)
          to_node(outside, n, [this, n] { in_leader(n, actors::stop_run{actors::run_end::seconds, now_s_}); });
      for (const auto n : std::exchange(left_, {}))
        end_process(n);
      if (!step() && !pass_time())
        break;
    }
    check_->check_halves();
    return end_.has_value();
  }

  std::size_t events() const noexcept { return events_; }
  /// Returns the leader's report of the end, if it is no failure.
  const std::optional<actors::end_run>& end() const noexcept { return end_; }
  /// True if all workers with a state have been lost.
  bool extinct() const noexcept { return extinct_; }
  /// Returns how many workers, or else processes, have left as they were asked to.
  std::size_t retired() const noexcept { return retired_; }
  const std::optional<std::string>& broken() const noexcept { return check_->broken(); }
  /// Returns the models of living workers.
  std::vector<const vec*> models() const {
    std::vector<const vec*> result;
    for (const auto& n : lives_)
      if (n)
        result.push_back(&n->program->model());
    return result;
  }

private:
  /// One life of a worker.
  struct life final : actors::worker_host {
    life(mortal_world& world_, actors::rank i, std::uint32_t incarnation_)
        : world(world_), id(i), incarnation(incarnation_),
          ends({i, incarnation_}, false, std::make_shared<passages>(world)), program(world.run_->make_algorithm(i)),
          w(settings(), compute::make_optimiser("momentum:beta=0.5"), *this) {}

    actors::worker_settings settings() const {
      auto s = world.run_->for_worker(id, incarnation);
      s.training.evaluation_steps = 0;
      s.witness = &world.witness_;
      if (id >= world.run_->settings.workers) {
        s.place.saved = world.saved_[id];
        if (incarnation == 0 && !s.place.saved)
          world.saved_[id] = std::make_shared<const std::vector<std::byte>>(); // no worker knows the master's state yet
      }
      return s;
    }
    void meet(std::shared_ptr<const actors::roster> who) {
      for (auto& f : ends.meet(std::move(who)))
        waiting.push_back(std::move(f));
    }
    void arrived(actors::frame f) {
      ends.arrived(std::move(f), {}, [this](actors::frame next) { w.deliver(std::move(next)); });
    }
    void proceed(const actors::proceed_with& m) {
      if (m.next) {
        meet(m.who);
        w.adopt(m.next);
      }
      w.proceed(m.limit, 0, m.leaving);
      for (auto& f : std::exchange(waiting, {}))
        arrived(std::move(f));
    }
    /// Tells the node that the worker lives on.
    template <class News>
    void tell(const News& news) {
      world.to_node(id, world.home_of(id), [&wd = world, n = world.home_of(id), news] { wd.on(n, news); });
    }

    void compute(actors::gradient_job j) override { job = std::move(j); }
    void report(actors::step_report r) override { tell(r); }
    void report(actors::snapshot) override {}
    void send(actors::rank to, actors::frame f) override { ends.send(to, std::move(f), {}); }
    actors::traffic sent() const override { return ends.sent(); }
    std::chrono::nanoseconds now() const override { return world.now(); }
    void wake_at(std::chrono::nanoseconds time) override { alarms.push_back(time); }
    void joined(std::uint64_t step) override { tell(actors::worker_joined{id, incarnation, step}); }
    void paused() override { tell(actors::worker_paused{id, incarnation}); }
    void save() override { world.saved_[id] = std::make_shared<const std::vector<std::byte>>(w.state()); }

    mortal_world& world;
    actors::rank id;
    std::uint32_t incarnation;
    std::map<std::size_t, std::deque<std::function<void(life&)>>> mail; // by sender
    std::vector<actors::frame> waiting;
    std::vector<std::chrono::nanoseconds> alarms;
    actors::connections ends;
    std::unique_ptr<actors::algorithm> program;
    std::optional<actors::gradient_job> job;
    bool reported = false;
    actors::hosted_worker w; // last: its coroutines refer to the rest
  };

  /// A link to one life of a worker.
  struct passage final : actors::link {
    passage(mortal_world& world_, actors::rank to_, std::uint32_t incarnation_)
        : world(world_), to(to_), incarnation(incarnation_) {}
    void send(actors::frame f) override {
      world.check_->carried(f);
      if (auto& target = world.lives_[to]; target && target->incarnation == incarnation)
        target->mail[f.source].push_back([f](life& self) { self.arrived(f); });
      else if (!target || target->incarnation < incarnation)
        world.early_[{to, incarnation}].push_back(std::move(f)); // its node has not heard that this life begins
    }
    mortal_world& world;
    actors::rank to;
    std::uint32_t incarnation;
  };
  struct passages final : actors::transport {
    explicit passages(mortal_world& w) : world(w) {}
    void attach(actors::life, actors::frame_sink) override {}
    std::unique_ptr<actors::link> link_to(actors::rank, actors::life to) override {
      return std::make_unique<passage>(world, to.who, to.incarnation);
    }
    mortal_world& world;
  };

  std::size_t participants() const { return run_->participants(); }
  /// Returns a sender of mail. Workers come first, by rank, then nodes, then `outside`, which kills and stops.
  std::size_t sender(std::size_t node) const { return participants() + node; }
  static constexpr auto outside = std::size_t(-1);
  std::size_t home_of(actors::rank i) const { return where_ == dwelling::together ? 0 : i; }

  void found();

  // -- events ---------------------------------------------------------------------------------------------------------

  bool step();

  /// Lets time pass, so that unanswered questions are repeated.
  /// @returns false when that has not helped for long
  bool pass_time() {
    constexpr double longest_silence_s = 60, tick_s = 0.1;
    if (end_ || extinct_ || now_s_ - busy_s_ > longest_silence_s)
      return false;
    now_s_ += tick_s;
    wake_sleepers();
    for (std::size_t n = 0; n < nodes_.size(); ++n)
      if (nodes_[n])
        obey(n, nodes_[n]->protocol.on(actors::time_is{now_s_}));
    return true;
  }

  std::chrono::nanoseconds now() const {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>{now_s_});
  }

  /// Ends the pauses that are over: an event for each.
  void wake_sleepers() {
    for (auto& n : lives_)
      if (n)
        for (auto k = std::erase_if(n->alarms, [this](auto due) { return due <= now(); }); k > 0; --k)
          n->mail[sender(home_of(n->id))].push_back([](life& self) { self.w.wake(); });
  }

  void kill(actors::rank i);
  void end_process(std::size_t n);

  void bring_back(actors::rank i);

  void retire(actors::rank i);

  /// Tells the other nodes of a process. The news comes after all messages of that process.
  void tell_of_process(std::size_t n, actors::consensus::health::state is) {
    const actors::consensus::health news{static_cast<std::uint32_t>(n), starts_[n], is};
    for (std::size_t other = 0; other < nodes_.size(); ++other)
      if (other != n)
        to_node(sender(n), other, [this, other, news] { on(other, news); });
  }

  // -- the shells around the nodes ------------------------------------------------------------------------------------

  struct process {
    explicit process(actors::node_protocol p) : protocol(std::move(p)) {}
    actors::node_protocol protocol;
    actors::roster roster;
    std::map<actors::rank, actors::step_report> last_steps;
    std::optional<actors::progress_meter> progress;                        // set if the node leads
    std::map<actors::rank, std::pair<std::uint32_t, std::uint32_t>> views; // by rank: its life, and the last view
  };

  void to_node(std::size_t from, std::size_t n, std::function<void()> what) {
    inbox_[{from, n}].push_back(std::move(what));
  }

  template <class Event>
  void on(std::size_t n, const Event& event) {
    if (!nodes_[n])
      return;
    busy_s_ = now_s_;
    obey(n, nodes_[n]->protocol.on(event));
  }
  void on(std::size_t n, const actors::step_report& r) {
    if (nodes_[n])
      nodes_[n]->last_steps[r.source] = r;
    to_leader(n, r);
  }
  void on(std::size_t n, const actors::model_came& m) { to_leader(n, m); }

  template <class Event>
  void in_leader(std::size_t n, const Event& event) {
    if (nodes_[n])
      obey(n, nodes_[n]->protocol.in_leader(event));
  }
  void in_leader(std::size_t n, const actors::step_report& r) {
    const auto* leader = nodes_[n] ? nodes_[n]->protocol.leader() : nullptr;
    if (leader == nullptr || !leader->members().is_current(r.source, r.incarnation))
      return;
    nodes_[n]->progress->count(r);
    in_leader(n, actors::run_progress{nodes_[n]->progress->updates()});
  }
  template <class News>
  void to_leader(std::size_t n, const News& news) {
    busy_s_ = now_s_;
    if (!nodes_[n])
      return;
    const auto leader = nodes_[n]->protocol.leader_node();
    if (leader == n)
      in_leader(n, news);
    else
      to_node(sender(n), leader, [this, leader, news] { in_leader(leader, news); });
  }

  void tell_workers(std::size_t n, const std::function<void(life&)>& what) {
    for (auto& one : lives_)
      if (one && home_of(one->id) == n)
        one->mail[sender(n)].push_back(what);
  }

  std::shared_ptr<const actors::roster> everybody(std::size_t n) const {
    return std::make_shared<const actors::roster>(nodes_[n]->roster);
  }

  void obey(std::size_t n, const actors::node_protocol::orders& all) {
    for (const auto& what : all)
      if (nodes_[n])
        std::visit([&](const auto& one) { obey(n, one); }, what);
  }

  void obey(std::size_t n, const actors::hold_steps& m);

  void obey(std::size_t n, const actors::decision& m);

  void obey(std::size_t n, const actors::snapshot_request& m) {
    for (std::size_t other = 0; other < nodes_.size(); ++other)
      to_node(sender(n), other, [this, other, m] {
        tell_workers(other, [m](life& self) {
          self.tell(actors::model_came{self.id, self.incarnation, m.evaluation});
        });
      });
  }

  void obey(std::size_t n, const actors::start_worker& m) {
    lives_[m.who].reset(); // ends the former life before its successor begins
    lives_[m.who] = std::make_unique<life>(*this, m.who, m.incarnation);
    lives_[m.who]->mail[sender(n)].push_back([](life& self) { self.w.run(*self.program); });
    for (auto& f : std::exchange(early_[{m.who, m.incarnation}], {}))
      lives_[m.who]->mail[f.source].push_back([f](life& self) { self.arrived(f); });
  }

  void obey(std::size_t n, const actors::consensus::post& m) {
    for (const std::size_t to : m.to)
      to_node(sender(n), to, [this, to, what = m.what] { on(to, what); });
  }
  void obey(std::size_t n, const actors::report_to& m) {
    to_node(sender(n), m.node, [this, to = std::size_t{m.node}, what = m.what] { on(to, what); });
  }
  void obey(std::size_t n, const actors::restart_worker& m) {
    to_node(sender(n), home_of(m.who), [this, m] { on(home_of(m.who), m); });
  }

  void obey(std::size_t, const actors::stop_worker& m) { lives_[m.who].reset(); }
  void obey(std::size_t, const actors::end_run& m) { end_ = end_.value_or(m); }
  void obey(std::size_t, const actors::run_failed&) { extinct_ = true; }
  void obey(std::size_t n, const actors::account_for& m) {
    for (const auto& [i, last] : nodes_[n]->last_steps)
      to_node(sender(n), m.leader, [this, to = std::size_t{m.leader}, r = last] { in_leader(to, r); });
  }
  void obey(std::size_t n, const actors::lead_taken&) {
    nodes_[n]->progress.emplace(*run_);
    for (const auto& [i, last] : nodes_[n]->last_steps)
      nodes_[n]->progress->count(last);
  }
  void obey(std::size_t, const actors::lead_left&) {}
  void obey(std::size_t, const actors::nodes_moved&) {}
  void obey(std::size_t n, const actors::node_has_left&) {
    left_.insert(n);
    ++retired_;
  }
  void obey(std::size_t, const actors::forget_worker& m) { // a leader that leaves does not tell of its own workers
    retired_ += m.retired && where_ == dwelling::together;
  }
  void obey(std::size_t, const actors::welcome_worker&) {}
  void obey(std::size_t, const actors::save_checkpoint&) {} // no test asks for one
  std::shared_ptr<const actors::experiment> run_;
  std::vector<death> deaths_;
  std::optional<std::size_t> stop_at_;
  dwelling where_;
  actors::view_maker views_;
  actors::consensus::charter rules_;
  std::vector<std::unique_ptr<process>> nodes_; // null: the process is dead
  std::vector<std::uint32_t> starts_;           // number of times each was started again
  std::set<std::size_t> left_;                  // nodes that are to end
  double now_s_ = 0, busy_s_ = 0;
  random_sequence choice_;
  std::optional<actors::auditor> check_;
  auditing_witness witness_;
  std::size_t events_ = 0;
  std::map<std::pair<std::size_t, std::size_t>, std::deque<std::function<void()>>> inbox_; // mail of nodes, by sender
  std::optional<actors::end_run> end_;
  bool extinct_ = false;
  std::size_t retired_ = 0;
  std::vector<std::shared_ptr<const std::vector<std::byte>>> saved_; // states of masters
  std::map<std::pair<actors::rank, std::uint32_t>, std::vector<actors::frame>> early_;
  std::vector<std::unique_ptr<life>> lives_;
};

} // namespace gossamer::testing_support

#include "mortal_nodes.hpp"
