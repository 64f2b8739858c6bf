#include "gossamer/actors/runtime/coordination.hpp"

#include <algorithm>

namespace gossamer::actors {

namespace {

constexpr double longest_wait_for_steps_s = 10;
constexpr double longest_wait_for_models_s = 1; // without those that are missing,
constexpr double longest_wait_s = 10;           // and if they are needed

} // namespace

run_failed extinction() {
  return {errc::failed, "every worker that had the model has died", "a run goes on while one of them lives"};
}

coordination::coordination(const experiment& e, std::uint64_t checkpoint)
    : run_(&e), members_(e), checkpoint_(checkpoint) {
  last_.limit = e.algorithm->traits.synchronous ? e.steps_per_worker : e.steps_per_worker * e.settings.workers;
  for (rank i = 0; i < e.participants(); ++i)
    last_.view.lives.emplace(i, 0);
}

// -- events: who is there ---------------------------------------------------------------------------------------------

orders coordination::on(const worker_lost& m) {
  orders out;
  if (over() || !is_current(m.who, m.incarnation))
    return out;
  lose(m.who, out);
  go_on_without(m.who, out);
  return out;
}

orders coordination::on(const kill_worker& m) {
  if (m.comes_back)
    away_.insert(m.who);
  return {stop_worker{m.who}};
}

orders coordination::on(const restart_worker& m) {
  orders out;
  away_.erase(m.who);
  if (!running())
    return out;                // there is nothing left to take part in
  if (members_.alive(m.who)) { // its death has not been noticed, or it is not dead at all
    out.emplace_back(stop_worker{m.who});
    lose(m.who, out);
    if (!members_.anybody_ready())
      return fail(extinction(), out), out;
    change_view_at_once(out);
  }
  ++returned_;
  start(m.who, out);
  change_view(out);
  return out;
}

orders coordination::on(const worker_joined& m) {
  if (is_current(m.source, m.incarnation))
    members_.joined(m.source, m.step);
  return {};
}

// -- events: steps ----------------------------------------------------------------------------------------------------

orders coordination::on(const run_progress& m) {
  if (run_->algorithm->traits.synchronous || m.updates < run_->steps_per_worker * run_->settings.workers)
    return {};
  return on(stop_run{run_end::planned});
}

orders coordination::on(const holding& m) {
  orders out;
  if (!running() || !is_current(m.source, m.incarnation)
      || !members_.answer(m.source, m.round, m.step, m.next_exchange))
    return out;
  if (stopping_)
    last_.limit = std::min(last_.limit, members_.last_step() + 1);
  const auto stranded = members_.stranded();
  if (members_.changed() && !stranded.empty()) {
    for (const auto i : stranded)
      start(i, out);
    hold(out);
    return out;
  }
  if (members_.changed())
    last_.view = members_.next_view(last_.limit);
  if (std::exchange(saving_, false))
    last_.save_at = members_.last_step() + 1;
  decide(out);
  return out;
}

orders coordination::on(const worker_finished& m) {
  orders out;
  if (!running() || !is_current(m.source, m.incarnation))
    return out;
  finished_.insert(m.source);
  collect_when_finished(out);
  return out;
}

/// Asynchronous workers save at once (see `cut`); synchronous ones before the first step that nobody has begun.
orders coordination::on(const checkpoint_due&) {
  orders out;
  if (!running() || stopping_)
    return out; // the last one comes when all have finished
  if (run_->algorithm->traits.synchronous) {
    saving_ = true;
    hold(out);
  } else {
    out.emplace_back(save_checkpoint{++checkpoint_});
  }
  return out;
}

// -- events: the end --------------------------------------------------------------------------------------------------

orders coordination::on(const stop_run& m) {
  orders out;
  if (over())
    return out;
  if (m.why != run_end::planned && hurry_ == run_end::planned) {
    hurry_ = m.why;
    since_s_ = m.now_s;
    if (running())
      why_ = hurry_;
  }
  if (std::exchange(stopping_, true) || !running())
    return out;
  if (run_->algorithm->traits.synchronous) {
    hold(out);
  } else {
    last_.limit = 0;
    decide(out);
  }
  return out;
}

bool coordination::awaits(const model_came& m) const {
  return phase_ == phase::collecting && is_current(m.source, m.incarnation)
         && m.evaluation == first_final + collections_ - 1 && awaited_.contains(m.source);
}

orders coordination::on(const model_came& m) {
  orders out;
  if (!awaits(m))
    return out;
  awaited_.erase(m.source);
  came_.insert(m.source);
  if (awaited_.empty())
    end(out);
  return out;
}

orders coordination::on(const time_is& m) {
  orders out;
  if (over() || hurry_ == run_end::planned || (!given_up_ && m.now_s - since_s_ < longest_wait_for_steps_s))
    return out;
  if (!std::exchange(given_up_, true))
    since_s_ = m.now_s;
  const auto waited = m.now_s - since_s_;
  if (phase_ == phase::collecting && waited >= longest_wait_for_models_s && models_suffice()) {
    end(out);
  } else if (waited >= longest_wait_s) {
    fail({errc::failed, "the run was stopped, but the models to be evaluated have not come within 20 s",
          "a worker or master that stands still for ever keeps its model"},
         out);
  } else if (running()) {
    why_ = hurry_;
    away_.clear(); // nobody waits for a fault plan any more
    if (revive_masters(out))
      change_view(out);
    collect(out);
  }
  return out;
}

// -- what follows from them -------------------------------------------------------------------------------------------

void coordination::lose(rank i, orders& out) {
  members_.lose(i);
  finished_.erase(i);
  ++lost_;
  out.emplace_back(forget_worker{i, members_.population()});
}

void coordination::start(rank i, orders& out) {
  if (members_.alive(i))
    out.emplace_back(stop_worker{i});
  finished_.erase(i);
  out.emplace_back(start_worker{i, members_.start(i)});
}

/// Nobody can take a master's place. @returns whether there was one to be started anew
bool coordination::revive_masters(orders& out) {
  bool revived = false;
  for (auto i = static_cast<rank>(run_->settings.workers); i < run_->participants(); ++i)
    if (!members_.alive(i) && !away_.contains(i)) {
      ++returned_;
      start(i, out);
      revived = true;
    }
  return revived;
}

void coordination::go_on_without(rank i, orders& out) {
  if (phase_ == phase::collecting) {
    const bool needed = awaited_.erase(i) != 0;
    if (!needed || !is_master(i)) {
      if (awaited_.empty() && models_suffice())
        end(out);
      else if (awaited_.empty())
        fail(extinction(), out);
      return;
    }
    phase_ = phase::running;
    came_.clear();
  }
  if (!members_.anybody_ready())
    return fail(extinction(), out);
  change_view(out);
  if (revive_masters(out))
    change_view(out);
  collect_when_finished(out);
}

void coordination::hold(orders& out) { out.emplace_back(hold_steps{members_.ask()}); }

void coordination::decide(orders& out) {
  ++last_.number;
  out.emplace_back(last_);
}

void coordination::change_view(orders& out) {
  run_->algorithm->traits.synchronous ? hold(out) : change_view_at_once(out);
}

/// In an asynchronous run every loss has a view of its own, also of one that is back at the same moment: nobody shall
/// go on waiting for its former life. (In a synchronous run the steps tell the lives apart.)
void coordination::change_view_at_once(orders& out) {
  if (run_->algorithm->traits.synchronous)
    return;
  last_.view = members_.next_view(last_.limit);
  decide(out);
}

/// When nobody does anything any more, the models are final: no exchange is under way.
void coordination::collect_when_finished(orders& out) {
  if (!members_.masters_live() || finished_.size() != members_.population())
    return;
  out.emplace_back(save_checkpoint{run_->algorithm->traits.synchronous ? last_.limit : ++checkpoint_});
  collect(out);
}

void coordination::collect(orders& out) {
  phase_ = phase::collecting;
  awaited_.clear();
  came_.clear();
  for (const auto i : members_.living())
    if (members_.ready(i))
      awaited_.insert(i);
  out.emplace_back(snapshot_request{first_final + collections_++});
}

bool coordination::models_suffice() const {
  if (run_->masters == 0)
    return !came_.empty();
  return static_cast<std::size_t>(std::ranges::count_if(came_, [this](rank i) { return is_master(i); }))
         == run_->masters;
}

void coordination::end(orders& out) {
  phase_ = phase::over;
  out.emplace_back(end_run{why_, members_.population() - finished_.size(), {awaited_.begin(), awaited_.end()}});
}

void coordination::fail(run_failed why, orders& out) {
  phase_ = phase::over;
  out.emplace_back(std::move(why));
}

void coordination::fields(archive& a) {
  const auto as_word = [&a](auto& one) {
    auto word = static_cast<std::uint32_t>(one);
    a(word);
    one = static_cast<std::remove_reference_t<decltype(one)>>(word);
  };
  members_.fields(a);
  a(last_.number)(last_.view.number)(last_.view.first_step)(last_.view.lives)(last_.view.donors)(last_.limit)(
      last_.save_at);
  a(finished_)(away_)(
      stopping_)(since_s_)(given_up_)(saving_)(checkpoint_)(collections_)(awaited_)(came_)(lost_)(returned_);
  as_word(phase_);
  as_word(why_);
  as_word(hurry_);
}

} // namespace gossamer::actors
