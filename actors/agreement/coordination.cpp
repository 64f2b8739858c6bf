#include "gossamer/actors/agreement/coordination.hpp"

#include "gossamer/actors/agreement/inspecting_archive.hpp"
#include "gossamer/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace gossamer::actors {

namespace {

constexpr double longest_wait_for_steps_s = 10;
constexpr double longest_wait_for_models_s = 1; // then the run does without missing models
constexpr double longest_wait_s = 10;           // then it fails, if missing models are needed
constexpr double longest_shortage_s = 30;
constexpr double wish_again_s = 1; // a wish may get lost on its way to the leader

constexpr std::uint64_t most_collections = std::uint64_t{1} << 20; // under one leader
constexpr std::uint64_t most_checkpoints = 1'000'000;              // under one leader; people read their numbers

} // namespace

run_failed extinction() {
  return {errc::failed, "every worker that had the model has died", "a run goes on while one of them lives"};
}

coordination::coordination(const experiment& e, const consensus::resolution& last)
    : run_(&e), last_(last), members_(e, last.what.view), stopping_(last.stopping), why_(last.why),
      hurry_(last.stopping ? last.why : run_end::planned), checkpoint_(checkpoints_before(e, last.number())),
      collection_(first_final + last.number() * most_collections) {
  GOSSAMER_ASSERT(
      std::ranges::all_of(last.what.view.lives, [&](const auto& one) { return one.first < e.participants(); }),
      "a view has workers and masters of the run");
}

std::uint64_t coordination::checkpoints_before(const experiment& e, std::uint32_t leader) {
  return e.algorithm->traits.synchronous ? 0 : e.done.checkpoint + (leader - 1) * most_checkpoints;
}

// -- events: members --------------------------------------------------------------------------------------------------

coordination::orders coordination::take_over(const decision& before) {
  orders out;
  const auto& now = last_.what.view.lives;
  const auto is_in = [](const auto& lives, const auto& one) {
    const auto found = lives.find(one.first);
    return found != lives.end() && found->second == one.second;
  };
  for (const auto& one : before.view.lives)
    if (!is_in(now, one)) {
      const bool left = before.parting.heirs.contains(one.first) && !now.contains(one.first);
      out.emplace_back(forget_worker{one.first, one.second, workers_left(), left});
    }
  for (const auto& one : now)
    if (!is_in(before.view.lives, one))
      out.emplace_back(welcome_worker{one.first, one.second});
  return out;
}

coordination::orders coordination::on(const consensus::resolution& next) {
  orders out;
  if (over())
    return out;
  const auto lost = follow(next.what.view, out);
  const bool parts = next.what.parting != last_.what.parting;
  const bool is_news = parts || next.what.view != last_.what.view || next.stopping != last_.stopping;
  if (parts)
    paused_.clear();
  last_ = next;
  models_are_lost_ = false;
  stopping_ |= next.stopping;
  if (running() && next.stopping && why_ == run_end::planned)
    why_ = next.why;
  if (names_the_dead() || (is_unmet() && is_news)) // without news, a further resolution changes nothing
    wish({}, out);
  for (const auto i : lost)
    if (phase_ == phase::collecting)
      go_on_without(i, out);
  collect_when_finished(out);
  return out;
}

/// Models that have been collected already are not lost. Dying workers do not take the models of masters along.
coordination::orders coordination::on(const consensus::models_are_lost&) {
  orders out;
  models_are_lost_ = true;
  if (over() || (phase_ == phase::collecting && run_->masters > 0))
    return out;
  if (phase_ == phase::collecting && models_suffice())
    end(out);
  else
    fail(extinction(), out);
  return out;
}

/// Replaces the lives by those of the next view. @returns the ranks that are lost
std::vector<rank> coordination::follow(const view_change& next, orders& out) {
  std::vector<rank> lost;
  if (next.number == last_.what.view.number)
    return lost;
  const auto stays = [&, before = members_](rank i) {
    const auto member = next.lives.find(i);
    return member != next.lives.end() && member->second == before.incarnation(i);
  };
  for (const auto i : members_.living())
    if (!stays(i)) {
      lost.push_back(i);
      members_.leave_out(i);
      lose(i, last_.what.parting.heirs.contains(i) && !next.lives.contains(i), out);
    }
  members_.adopt(next);
  for (const auto& [i, life] : next.lives)
    if (!stays(i)) {
      waiting_.erase(i);
      out.emplace_back(welcome_worker{i, life});
    }
  return lost;
}

coordination::orders coordination::on(const worker_lost& m) {
  orders out;
  if (over() || !members_.is_current(m.who, m.incarnation))
    return out;
  GOSSAMER_ASSERT(m.who < run_->participants(), "a life that is current is of a worker or master of the run");
  members_.end(m.who);
  lose(m.who, false, out);
  go_on_without(m.who, out);
  return out;
}

coordination::orders coordination::on(const worker_waits& m) {
  orders out;
  if (over() || m.who >= run_->participants())
    return out;
  waiting_.insert(m.who);
  if (running())
    wish({}, out);
  return out;
}

coordination::orders coordination::on(const worker_joined& m) {
  if (members_.is_current(m.source, m.incarnation))
    members_.joined(m.source);
  return {};
}

// -- events: steps ----------------------------------------------------------------------------------------------------

coordination::orders coordination::on(const run_progress& m) {
  const bool endless = std::isinf(run_->planned_epochs); // only its time ends it
  if (synchronous() || endless || m.updates < run_->planned_updates)
    return {};
  return on(stop_run{run_end::planned});
}

/// Wishes for the next resolution, which lets leaving workers go, once enough have paused.
coordination::orders coordination::on(const worker_paused& m) {
  orders out;
  if (!running() || !members_.is_current(m.source, m.incarnation))
    return out;
  paused_.insert(m.source);
  if (have_paused())
    wish({}, out);
  return out;
}

bool coordination::have_paused() const {
  const auto& leaving = last_.what.parting.heirs;
  const auto living = members_.living();
  if (!synchronous()) // they leave one by one
    return std::ranges::any_of(living, [&](rank i) { return leaving.contains(i) && paused_.contains(i); });
  return !leaving.empty() && std::ranges::all_of(living, [&](rank i) { return is_master(i) || paused_.contains(i); });
}

coordination::orders coordination::on(const worker_finished& m) {
  orders out;
  if (!running() || !members_.is_current(m.source, m.incarnation))
    return out;
  finished_.insert(m.source);
  collect_when_finished(out);
  return out;
}

/// Asynchronous workers save at once (`cut`); synchronous ones before the first step that no worker has begun.
coordination::orders coordination::on(const checkpoint_due&) {
  if (!running() || stopping_)
    return {}; // the last one comes when all have finished
  if (synchronous())
    return {consensus::wish{.save = true}};
  return {save_checkpoint{++checkpoint_}};
}

// -- events: the end --------------------------------------------------------------------------------------------------

coordination::orders coordination::on(const stop_run& m) {
  orders out;
  if (over())
    return out;
  if (m.why != run_end::planned && hurry_ == run_end::planned) {
    hurry_ = m.why;
    since_s_ = m.now_s;
    if (running())
      why_ = hurry_;
  }
  if (!std::exchange(stopping_, true) && running())
    wish({.stop = true, .why = why_}, out);
  return out;
}

bool coordination::awaits(const model_came& m) const {
  return phase_ == phase::collecting && members_.is_current(m.source, m.incarnation) && m.evaluation + 1 == collection_
         && awaited_.contains(m.source);
}

coordination::orders coordination::on(const model_came& m) {
  orders out;
  if (!awaits(m))
    return out;
  awaited_.erase(m.source);
  came_.insert(m.source);
  if (awaited_.empty())
    end(out);
  return out;
}

coordination::orders coordination::on(const time_is& m) {
  orders out;
  now_s_ = m.now_s;
  if (is_unmet() && now_s_ - wished_s_ >= wish_again_s)
    wish({.stop = stopping_ && !last_.stopping, .why = why_}, out);
  look_for_shortage(out);
  if (since_s_ < 0 && hurry_ != run_end::planned)
    since_s_ = m.now_s; // it was stopped under a former leader
  if (over() || hurry_ == run_end::planned || (!given_up_ && m.now_s - since_s_ < longest_wait_for_steps_s))
    return out;
  const bool gives_up_now = !std::exchange(given_up_, true);
  if (gives_up_now)
    since_s_ = m.now_s;
  const auto waited = m.now_s - since_s_;
  if (phase_ == phase::collecting && waited >= longest_wait_for_models_s && models_suffice()) {
    end(out);
  } else if (waited >= longest_wait_s) {
    fail(missing_models(), out);
  } else if (running()) {
    why_ = hurry_;
    if (gives_up_now)
      revive_masters(out); // the run no longer waits for a fault plan
    if (members_.masters_are_ready())
      collect(out);
  }
  return out;
}

run_failed coordination::missing_models() const {
  const std::string sentence = "the run was stopped, but the models to be evaluated have not come within 20 s";
  for (auto i = static_cast<rank>(run_->settings.worker_ranks()); i < run_->participants(); ++i)
    if (!members_.alive(i))
      return {errc::failed, fmt::format("{}: {} is lost", sentence, run_->name_of(i)),
              "its node may come back before (gossamer node --join, or launch --restart); --resume goes on from a "
              "checkpoint"};
  return {errc::failed, sentence, "a worker or master that stands still for ever keeps its model"};
}

std::size_t coordination::workers_left() const {
  return static_cast<std::size_t>(std::ranges::count_if(members_.living(), [this](rank i) { return !is_master(i); }));
}

/// Fails a run with too few workers for too long. The time begins anew under a new leader.
void coordination::look_for_shortage(orders& out) {
  const auto least = run_->settings.min_workers.value_or(1);
  const auto left = workers_left();
  if (enough_s_ == 0 || !running() || left >= least)
    enough_s_ = now_s_;
  if (now_s_ - enough_s_ >= longest_shortage_s)
    fail({errc::failed,
          fmt::format("{} {} left, and nobody has come for {} s", left, left == 1 ? "worker is" : "workers are",
                      longest_shortage_s),
          fmt::format("--min-workers is {}; --resume goes on from a checkpoint", least)},
         out);
}

// -- consequences -----------------------------------------------------------------------------------------------------

/// True if something is still to be agreed on.
bool coordination::is_unmet() const {
  return running() && (names_the_dead() || !waiting_.empty() || (stopping_ && !last_.stopping));
}

/// Notes the time of a wish, so that it is not repeated at once: that would be another question to all workers.
void coordination::wish(const consensus::wish& what, orders& out) {
  wished_s_ = now_s_;
  out.emplace_back(what);
}

/// Notes that a rank is no longer a member. @param left true if it left because it was told to
void coordination::lose(rank i, bool left, orders& out) {
  finished_.erase(i);
  unfinished_.erase(i);
  out.emplace_back(forget_worker{i, members_.incarnation(i), workers_left(), left});
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
  if (models_are_lost_)
    return fail(extinction(), out);
  wish({}, out);
  collect_when_finished(out);
}

void coordination::revive_masters(orders& out) const {
  for (auto i = static_cast<rank>(run_->settings.worker_ranks()); i < run_->participants(); ++i)
    if (!members_.alive(i))
      out.emplace_back(restart_worker{i});
}

/// Collects the models once all members have finished: they are final, since no exchange is under way. Masters alone
/// finish nothing.
void coordination::collect_when_finished(orders& out) {
  if (!running() || !members_.masters_are_ready() || members_.population() == run_->masters
      || finished_.size() != members_.population())
    return;
  out.emplace_back(save_checkpoint{synchronous() ? last_.what.limit : ++checkpoint_});
  collect(out);
}

void coordination::collect(orders& out) {
  phase_ = phase::collecting;
  awaited_.clear();
  came_.clear();
  unfinished_.clear();
  for (const auto i : members_.living()) {
    if (members_.ready(i))
      awaited_.insert(i);
    if (!finished_.contains(i))
      unfinished_.insert(i);
  }
  out.emplace_back(snapshot_request{collection_++});
}

bool coordination::models_suffice() const {
  if (run_->masters == 0)
    return !came_.empty();
  return static_cast<std::size_t>(std::ranges::count_if(came_, [this](rank i) { return is_master(i); }))
         == run_->masters;
}

void coordination::end(orders& out) {
  phase_ = phase::over;
  out.emplace_back(end_run{why_, unfinished_.size(), {awaited_.begin(), awaited_.end()}});
}

void coordination::fail(run_failed why, orders& out) {
  phase_ = phase::over;
  out.emplace_back(std::move(why));
}

void coordination::fields(archive& a) {
  members_.fields(a);
  consensus::inspecting_archive all{a};
  all(last_, phase_, finished_, paused_, waiting_, stopping_, why_, hurry_, since_s_, given_up_, now_s_, wished_s_);
  all(enough_s_, checkpoint_, collection_, awaited_, came_, unfinished_, models_are_lost_);
}

} // namespace gossamer::actors
