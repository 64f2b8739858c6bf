#pragma once

#include "gossamer/actors/runtime/connections.hpp"
#include "gossamer/actors/runtime/coordination.hpp"
#include "gossamer/actors/runtime/hosted_worker.hpp"
#include "gossamer/actors/runtime/messages.hpp"
#include "gossamer/actors/simulation/auditor.hpp"

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>

namespace gossamer::testing_support {

/// A death, counted in events of the run.
struct death {
  actors::rank who = 0;
  std::size_t at = 0;
  std::optional<std::size_t> back_after = {};
};

/// Workers and masters that die and come back, and a coordination that does something about it, in one thread and
/// without actors. An event is the handling of one message, or one gradient; a seeded generator picks which of the
/// possible events comes next. What one party sends another keeps its order; everything else may overtake everything
/// else, also the news of a death. An auditor checks everything. Same seed and deaths, same run.
class mortal_world {
public:
  /// @param stop_at the event at which the run is stopped as by `--seconds`
  mortal_world(std::shared_ptr<const actors::experiment> e, std::uint64_t seed, std::vector<death> deaths,
               std::optional<std::size_t> stop_at = std::nullopt)
      : run_(std::move(e)), deaths_(std::move(deaths)), stop_at_(stop_at), coordination_(*run_),
        choice_(random_stream{seed, 0, purpose::interleaving}, 0) {
    const auto& traits = run_->algorithm->traits;
    check_.emplace(run_->settings.workers, traits.exchange == actors::exchange_pattern::bipartite,
                   traits.promises.most_steps_apart, run_->masters);
    witness_.check = &*check_;
    lives_.resize(participants());
    saved_.resize(participants());
    roster_.incarnations.resize(participants());
    roster_.present.resize(participants());
  }

  /// Runs until nothing can happen any more. @returns whether the coordination has ended the run, with models
  bool run() {
    for (actors::rank i = 0; i < participants(); ++i)
      spawn(i, 0);
    for (auto& n : lives_)
      n->meet(everybody());
    for (auto& n : lives_)
      n->mail[coordinator()].push_back([](life& self) { self.w.run(*self.program); });
    for (;; ++events_) {
      for (const auto& d : deaths_) {
        if (d.at == events_)
          kill(d.who);
        if (d.back_after && d.at + *d.back_after == events_)
          inbox_[coordinator() + 1 + d.who].push_back([this, who = d.who] { on(actors::restart_worker{who}); });
      }
      if (stop_at_ == events_)
        inbox_[coordinator()].push_back([this] { on(actors::stop_run{actors::run_end::seconds, 0}); });
      if (!step())
        break;
    }
    check_->check_halves();
    return end_.has_value();
  }

  std::size_t events() const noexcept { return events_; }
  /// What the coordination says about the end, if it is no failure.
  const std::optional<actors::end_run>& end() const noexcept { return end_; }
  /// Whether all have been lost that had a state.
  bool extinct() const noexcept { return extinct_; }
  const std::optional<std::string>& broken() const noexcept { return check_->broken(); }
  /// Of those who live.
  std::vector<const vec*> models() const {
    std::vector<const vec*> result;
    for (const auto& n : lives_)
      if (n)
        result.push_back(&n->program->model());
    return result;
  }

private:
  struct auditing final : actors::witness {
    using rank = actors::rank;
    void begins(rank who, std::uint32_t life) override { check->begins(who, life); }
    void ends(rank who, std::uint32_t life) override { check->ends(who, life); }
    void adopts(rank who, const actors::view& v) override { check->adopts(who, v); }
    void reports(rank who, const actors::traffic& t) override { check->reports(who, t); }
    void step_begins(rank who, std::uint64_t t, const actors::view& v) override { check->step_begins(who, t, v); }
    void delivered(rank who, const actors::frame& f) override { check->delivered(who, f); }
    void claims_equal(rank who, std::string_view what, std::uint64_t t, const vec& v) override {
      check->claims_equal(who, what, t, v);
    }
    void claims_conserved(rank who, std::string_view what, std::uint64_t t, const actors::view& v, const vec& before,
                          const vec& after) override {
      check->claims_conserved(who, what, t, v, before, after);
    }
    void claims_opposite(rank who, const actors::exchange_half& half, const vec& delta) override {
      check->claims_opposite(who, half, delta);
    }
    actors::auditor* check = nullptr;
  };

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
      if (id >= world.run_->settings.workers)
        s.place.saved = world.saved_[id];
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
      w.proceed(m.limit);
      for (auto& f : std::exchange(waiting, {}))
        arrived(std::move(f));
    }
    void tell(std::function<void()> what) { world.inbox_[id].push_back(std::move(what)); }

    void compute(actors::gradient_job j) override { job = std::move(j); }
    void report(actors::step_report r) override {
      tell([&wd = world, r] { wd.on_step(r); });
    }
    void report(actors::snapshot) override {}
    void send(actors::rank to, actors::frame f) override { ends.send(to, std::move(f), {}); }
    actors::traffic sent() const override { return ends.sent(); }
    void joined(std::uint64_t step) override {
      tell([&wd = world, m = actors::worker_joined{id, incarnation, step}] { wd.on(m); });
    }
    void save() override { world.saved_[id] = std::make_shared<const std::vector<std::byte>>(w.state()); }

    mortal_world& world;
    actors::rank id;
    std::uint32_t incarnation;
    std::map<std::size_t, std::deque<std::function<void(life&)>>> mail; // by sender
    std::vector<actors::frame> waiting;
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
  std::size_t coordinator() const { return participants(); }

  // -- events ---------------------------------------------------------------------------------------------------------

  bool step() {
    std::vector<std::function<void()>> possible;
    for (auto& n : lives_) {
      if (!n)
        continue;
      for (auto& entry : n->mail)
        if (!entry.second.empty())
          possible.emplace_back([self = n.get(), &queue = entry.second] {
            const auto handle = std::move(queue.front());
            queue.pop_front();
            handle(*self);
          });
      if (n->job)
        possible.emplace_back([self = n.get()] {
          const auto job = *std::exchange(self->job, std::nullopt);
          self->w.gradient_arrived({job.step, 0.5f * job.x, 0.0, job.what != actors::gradient_job::kind::full_part});
        });
    }
    for (auto& entry : inbox_)
      if (!entry.second.empty())
        possible.emplace_back([&queue = entry.second] {
          const auto handle = std::move(queue.front());
          queue.pop_front();
          handle();
        });
    if (possible.empty())
      return false;
    possible[choice_.below(static_cast<std::uint32_t>(possible.size()))]();
    for (auto& n : lives_)
      if (n && n->w.finished() && !std::exchange(n->reported, true))
        n->tell([this, m = actors::worker_finished{n->id, n->incarnation}] { on(m); });
    return true;
  }

  void kill(actors::rank i) {
    if (!lives_[i])
      return;
    const actors::worker_lost news{i, lives_[i]->incarnation};
    lives_[i].reset();
    inbox_[i].push_back([this, news] { on(news); }); // after all that it has said
  }

  // -- the shell around the coordination ------------------------------------------------------------------------------

  template <class Event>
  void on(const Event& event) {
    for (const auto& what : coordination_.on(event))
      std::visit([&](const auto& one) { obey(one); }, what);
  }

  void on_step(const actors::step_report& r) {
    if (coordination_.is_current(r.source, r.incarnation))
      on(actors::run_progress{++updates_});
  }

  void tell_workers(const std::function<void(life&)>& what) {
    for (const auto i : coordination_.members().living())
      if (lives_[i])
        lives_[i]->mail[coordinator()].push_back(what);
  }

  std::shared_ptr<const actors::roster> everybody() const { return std::make_shared<const actors::roster>(roster_); }

  void spawn(actors::rank i, std::uint32_t incarnation) {
    roster_.incarnations[i] = incarnation;
    roster_.present[i] = true;
    lives_[i].reset(); // before its successor begins
    lives_[i] = std::make_unique<life>(*this, i, incarnation);
  }

  void obey(const actors::hold_steps& m) {
    tell_workers([this, m](life& self) {
      const auto t = self.w.hold();
      self.tell([this, a = actors::holding{self.id, self.incarnation, m.round, t, self.w.next_exchange()}] { on(a); });
    });
  }

  void obey(const actors::decision& m) {
    const bool news = std::exchange(known_view_, m.view.number) != m.view.number;
    actors::proceed_with all{news ? coordination_.view_of(m.view) : nullptr, everybody(), m.limit};
    tell_workers([all](life& self) { self.proceed(all); });
  }

  void obey(const actors::snapshot_request& m) {
    tell_workers([this, m](life& self) {
      self.tell([this, a = actors::model_came{self.id, self.incarnation, m.evaluation}] { on(a); });
    });
  }

  void obey(const actors::start_worker& m) {
    spawn(m.who, m.incarnation);
    lives_[m.who]->mail[coordinator()].push_back([](life& self) { self.w.run(*self.program); });
  }

  void obey(const actors::stop_worker& m) { lives_[m.who].reset(); }
  void obey(const actors::forget_worker& m) { roster_.present[m.who] = false; }
  void obey(const actors::end_run& m) { end_ = m; }
  void obey(const actors::save_checkpoint&) {} // nobody asks for one
  void obey(const actors::run_failed&) { extinct_ = true; }

  std::shared_ptr<const actors::experiment> run_;
  std::vector<death> deaths_;
  std::optional<std::size_t> stop_at_;
  actors::coordination coordination_;
  std::uint32_t known_view_ = 1;
  random_sequence choice_;
  std::optional<actors::auditor> check_;
  auditing witness_;
  std::uint64_t updates_ = 0;
  std::size_t events_ = 0;
  std::map<std::size_t, std::deque<std::function<void()>>> inbox_; // by sender
  actors::roster roster_;
  std::optional<actors::end_run> end_;
  bool extinct_ = false;
  std::vector<std::shared_ptr<const std::vector<std::byte>>> saved_; // of masters
  std::vector<std::unique_ptr<life>> lives_;
};

} // namespace gossamer::testing_support
