#include "gossamer/actors/runtime/coordinator.hpp"

#include "gossamer/actors/runtime/detail/coordinator_state.hpp"

#include <fmt/format.h>

namespace gossamer::actors {

namespace detail {

void coordinator_state::open(caf::event_based_actor* self, coordinator_setup setup) {
  self_ = self;
  setup_ = std::move(setup);
  const auto& run = *setup_.run;
  const auto* from = setup_.from ? &setup_.from->all : nullptr;
  coordination_.emplace(run, from ? from->checkpoint : 0);
  progress_.emplace(run);
  checkpoints_.emplace(run);
  if (from) {
    progress_->go_on_from(*from);
    checkpoints_->go_on_from(*from);
  }
  others_.emplace(setup_.others, setup_.patience);
  summary_.algorithm = run.algorithm->about.name;
  summary_.workers = workers();
  summary_.seed = run.settings.seed;
  summary_.steps_per_worker.assign(workers(), 0);
  evaluations_.emplace(run, progress_->updates());
  updates_seen_.assign(workers(), progress_->updates());
  own_node_.emplace(
      self,
      local_node::parts{.participants = run.participants(),
                        .spawn = [this](rank i, std::uint32_t life) { return setup_.spawn_worker(i, life, self_); },
                        .view_of = [this](const view_change& v) { return coordination_->view_of(v); }});
}

void coordinator_state::start() {
  began_ = self_->clock().now();
  if (setup_.from)
    began_ -= std::chrono::duration_cast<caf::actor_clock::duration_type>(seconds{setup_.from->all.time_s});
  if (setup_.spawn_checkpoint_writer)
    writer_ = setup_.spawn_checkpoint_writer(self_);
  evaluator_ = setup_.spawn_evaluator(self_);
  self_->monitor(evaluator_);
  for (const auto& other : *others_) {
    self_->monitor(other.handle);
    others_->heard().heard(other.number, now());
  }
  for (rank i = 0; i < setup_.run->participants(); ++i)
    tell_node_of(i, start_worker{i, 0});
  tell_nodes(begin_run{});
  self_->delayed_send(self_, tick_interval, tick{});
}

void coordinator_state::on_down(const caf::down_msg& down) {
  if (const auto loss = own_node_->died(down))
    return notice(*loss);
  if (auto* other = others_->behind(down.source))
    return lose(*other, "its process is gone");
  if (evaluator_.address() == down.source)
    fail({errc::failed, "the evaluation died: " + to_string(down.reason), {}});
}

void coordinator_state::on_complaint(const node_lost& m) {
  const auto* from = others_->speaking(self_->current_sender());
  const auto* about = others_->numbered(m.node);
  const bool is_heard = from != nullptr || self_->current_sender() == nullptr; // the leader's own data plane
  if (is_heard && (m.node == 0 || (about != nullptr && !about->lost)))
    conflicts_.add(from == nullptr ? 0 : from->number, m.node, m.why, now());
}

void coordinator_state::on_returned(const node_returned& m) {
  auto* node = others_->numbered(m.number);
  lose(*node, "its process has been started again"); // if that has not been noticed
  node->handle = m.handle;
  node->lost = false;
  self_->monitor(m.handle);
  others_->heard().heard(m.number, now());
  tell_observer(fmt::format("node {} is back", m.number));
  self_->send(m.handle, begin_run{});
  for (const auto i : node->ranks)
    on(restart_worker{i});
}

void coordinator_state::tell_observer(const std::string& what) {
  if (setup_.observer)
    setup_.observer->on_event(elapsed(), what);
}

void coordinator_state::fail(const run_failed& failure) {
  self_->send(setup_.client, failure);
  self_->quit();
}

void coordinator_state::notice(const worker_lost& loss) {
  if (setup_.detection.count() == 0)
    on(loss);
  else
    self_->delayed_send(self_, setup_.detection, loss);
}

void coordinator_state::watch_nodes() {
  auto& heard = others_->heard();
  for (const auto number : heard.silent(now()))
    lose(*others_->numbered(number),
         fmt::format("nothing has been heard of it for {:.3g} s", seconds{heard.patience()}.count()));
  for (const auto& [number, why] : conflicts_.settle(now()))
    lose(*others_->numbered(number), why);
  if (now() - last_heartbeat_ >= heartbeat_every) {
    last_heartbeat_ = now();
    for (const auto& other : *others_)
      self_->send(other.handle, heartbeat{});
  }
}

void coordinator_state::lose(remote_node& other, const std::string& why) {
  others_->heard().forget(other.number);
  conflicts_.forget(other.number);
  if (std::exchange(other.lost, true))
    return;
  tell_observer(fmt::format("node {} is lost: {}", other.number, why));
  caf::anon_send_exit(other.handle, caf::exit_reason::kill);
  for (const auto i : other.ranks)
    if (i < workers()) // a master's model has come here, or does not count
      evaluations_->lose(i);
  for (const auto i : other.ranks)
    if (coordination_->members().alive(i))
      on(worker_lost{i, coordination_->members().incarnation(i)});
  evaluate_next();
  if (coordination_->over() && evaluations_->done() && !final_is_known_)
    fail(extinction()); // the last models were there
}

void coordinator_state::obey(const snapshot_request& m) {
  evaluations_->open_final();
  tell_nodes(m);
}

void coordinator_state::obey(const save_checkpoint& m) {
  if (!writer_)
    return;
  checkpoints_->open(m.number, coordination_->members());
  tell_nodes(m);
}

void coordinator_state::obey(const start_worker& m) {
  progress_->ledger().close(m.who, m.incarnation - 1);
  tell_node_of(m.who, m);
  tell_observer(fmt::format("{} comes back", setup_.run->name_of(m.who)));
}

void coordinator_state::obey(const forget_worker& m) {
  progress_->ledger().close(m.who, coordination_->members().incarnation(m.who));
  evaluations_->forget(m.who);
  checkpoints_->lose(m.who);
  tell_observer(fmt::format("{} is lost; {} go on", setup_.run->name_of(m.who), m.left));
  evaluate_what_is_complete();
}

void coordinator_state::obey(const end_run& m) {
  for (const auto i : m.missing)
    tell_observer(fmt::format("{} does not answer; its model is left out", setup_.run->name_of(i)));
  ended_s_ = elapsed();
  summary_.end = m.why;
  summary_.unfinished = m.unfinished;
  if (!evaluations_->close_final(progress_->ledger(), elapsed()))
    return fail(extinction());
  evaluate_next();
}

} // namespace detail

namespace {

caf::behavior coordinator_actor(caf::stateful_actor<detail::coordinator_state>* self, const coordinator_setup& setup) {
  auto& state = self->state;
  report_exceptions_to(self, setup.client, "the coordinator");
  state.open(self, setup);
  self->set_down_handler([&state](caf::down_msg& down) { state.on_down(down); });
  return coordinator_interface::behaviour(std::tuple{
      [&state](start_run) { state.start(); },
      [&state](const step_report& r) { state.on_step(r); },
      [&state](const gradient_applied& m) { state.on_applied(m); },
      [&state](const work_report& r) { state.on_report(r); },
      [&state](snapshot& s) { state.on_snapshot(s); },
      [&state](const worker_finished& f) { state.on(f); },
      [&state](const snapshot_taken& s) { state.on_taken(s); },
      [&state](saved_worker& m) { state.on_part(m); },
      [&state](const part_saved& m) { state.on_part_saved(m); },
      [&state](const part_not_saved& m) { state.on_part_not_saved(m); },
      [&state](const manifest_saved& m) { state.on_manifest_saved(m); },
      [&state](const evaluated& m) { state.on_evaluation(m); },
      [&state](const holding& h) { state.on(h); },
      [&state](const worker_joined& m) { state.on_joined(m); },
      [&state](const worker_lost& m) { state.on(m); },
      [&state](const node_lost& m) { state.on_complaint(m); },
      [&state](const node_returned& m) { state.on_returned(m); },
      [&state](const kill_worker& m) { state.on(m); },
      [&state](const restart_worker& m) { state.on(m); },
      [&state](const pause_worker& m) { state.pause(m); },
      [&state](const run_event& m) { state.tell_observer(m.what); },
      [&state](tick) { state.on_tick(); },
      [&state](const run_failed& failure) { state.fail(failure); },
  });
}

} // namespace

caf::actor spawn_coordinator(caf::actor_system& system, coordinator_setup setup) {
  return system.spawn(coordinator_actor, std::move(setup));
}

} // namespace gossamer::actors
