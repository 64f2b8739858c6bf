#include "gossamer/actors/worker/hosted_worker.hpp"

#include "gossamer/actors/worker/name_of.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace gossamer::actors {

void hosted_worker::gradient_arrived(gradient_result result) {
  if (gradient_under_way_ != result.step)
    return; // a gradient from before this worker took the state of another one
  if (!std::isfinite(result.loss))
    throw diverged(fmt::format("its loss is {}", std::isnan(result.loss) ? "nan" : "inf")); // no sign of nan
  if (result.update) {
    ++gradients_;
    gradient_times_.add(host_.now() - gradient_began_);
    if (settings_.witness)
      settings_.witness->reports(id(), host_.sent());
    host_.report(step_report{id(), settings_.place.incarnation, gradients_, result.loss, sent(),
                             std::exchange(stale_frames_, 0)});
  }
  gradient_ = std::move(result.gradient);
  gradient_ready_ = true;
  if (!held_)
    gradient_signal_.notify();
  pass_cut();
}

void hosted_worker::deliver(frame f) {
  if (settings_.witness)
    settings_.witness->delivered(id(), f);
  if (f.label.kind == frame_kind::state)
    take_state(std::move(f));
  else if (f.label.kind == frame_kind::residual)
    take_residual(std::move(f));
  else if (f.label.kind == frame_kind::checkpoint) {
    hand_in(cut_.order(f.label.step));
    cut_.marker(f.source, f.label.step);
  } else if (!cut_.keeps(f)) {
    cut_.hear(f.source);
    hand_in(std::move(f));
  }
  pass_cut();
}

void hosted_worker::checkpoint(std::uint64_t number) {
  if (settings_.training.synchronous)
    return host_.checkpoint(number);
  hand_in(cut_.order(number));
  pass_cut();
}

void hosted_worker::run(algorithm& a) {
  algorithm_ = &a;
  if (!ready_)
    return;
  if (const auto saved = std::exchange(settings_.place.saved, nullptr))
    restore(*saved);
  else if (!settings_.training.synchronous)
    take_snapshot(0); // first evaluation, before any update
  if (settings_.place.inherits)
    a.inherit(*this);
  begin_routine();
  pass_cut(); // ordered by a peer that began earlier
}

std::uint64_t hosted_worker::hold() {
  // A step that ended after the answer, with a frame or with a gradient alone, would be repeated by other workers
  // without this one. A state that comes now waits, too: the answer names the step of the worker's own state.
  held_ = true;
  inbox_.hold();
  return step_;
}

void hosted_worker::proceed(std::uint64_t limit, std::uint64_t save_at, const parting& leaving) {
  limit_ = settings_.training.synchronous ? limit : std::min(limit_, limit);
  save_at_ = save_at;
  paused_ = paused_ && parting_ == leaving;
  parting_ = leaving;
  held_ = false;
  inbox_.thaw();
  if (early_state_ && !views_.empty() && early_state_->label.view <= views_.back()->number)
    take_state(*std::exchange(early_state_, std::nullopt));
  if (gradient_ready_)
    gradient_signal_.notify();
  more_room();
  time_passed_.notify(); // it may have passed meanwhile
  if (over())
    change_.notify();
}

void hosted_worker::wake() {
  if (!held_)
    time_passed_.notify();
  pass_cut();
}

void hosted_worker::more_room() {
  if (is_open(step_))
    gate_.notify();
  more_room_.notify();
  pause_when_due();
}

bool hosted_worker::finished() {
  for (auto* tasks : {&routines_, &services_})
    for (auto& routine : *tasks)
      if (routine.done())
        routine.check();
  const bool are_done = has_state() && std::ranges::all_of(routines_, &task<>::done);
  if (are_done && begun_ == step_ && step_ < limit_ && !ends_early_)
    throw error(errc::usage,
                fmt::format("{} has ended in step {}, before training is over", name_of(id(), ranks()), step_),
                "`run` returns where `co_await w.next_step(t)` is false");
  return are_done;
}

void hosted_worker::adopt(std::shared_ptr<const view> next) {
  if (settings_.witness)
    settings_.witness->adopts(id(), *next);
  inherit_residuals(*next);
  std::erase_if(views_, [&](const auto& v) { return v != views_.front() && v->first_step >= next->first_step; });
  const auto before = views_.empty() ? next : views_.back();
  const bool lacks_state = next->donors.contains(id()) && !(ready_ && next_exchange() >= next->first_step);
  views_.push_back(std::move(next));
  for (rank i = 0; i < before->incarnations.size(); ++i)
    if (before->incarnations[i] != views_.back()->incarnations[i])
      cut_.forget(i);
  // Drops frames of dead workers for steps that their successors will do as well: they must not pass for the
  // successors'.
  inbox_.discard([this](const frame& f) { return view_of(f.label.step).incarnations[f.source] != f.incarnation; });
  const bool begins_anew = !ready_ && !views_.back()->donors.contains(id());
  if (begins_anew)
    go_on_from_own_state();
  if (lacks_state)
    await_state();
  else
    enter_views();
  if (ready_ && next_exchange() >= views_.back()->first_step)
    donate(*views_.back()); // no exchange happens before the view: the joiner can do the same steps from this state
  inbox_.give_up([&](const auto& r) {
    return r.from() && (!expects(*r.from(), r.label()) || begins_another_life(*r.from(), *before));
  });
  if (begins_anew)
    begin_routine();
  change_.notify();
  pass_cut(); // an exchange with a lost peer is over
}

} // namespace gossamer::actors
