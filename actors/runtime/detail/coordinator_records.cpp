// What the coordinator counts, evaluates and saves.
#include "gossamer/actors/runtime/detail/coordinator_state.hpp"

#include <fmt/format.h>

#include <cmath>

namespace gossamer::actors::detail {

void coordinator_state::on_step(const step_report& r) {
  if (!coordination_->is_current(r.source, r.incarnation))
    return;
  if (setup_.steps_to)
    self_->send(setup_.steps_to, r);
  progress_->count(r);
  summary_.stale_frames += r.stale_frames;
  order_checkpoint_when_due();
  if (setup_.run->algorithm->traits.synchronous)
    return;
  const auto updates = progress_->updates();
  const auto read_at = std::exchange(updates_seen_[r.source], updates);
  if (setup_.run->algorithm->traits.exchange == exchange_pattern::bipartite)
    on_applied({updates - 1 - read_at});
  if (progress_->worth_announcing())
    tell_nodes(run_progress{updates});
  on(run_progress{updates});
  if (coordination_->running() && evaluations_->due(updates)) {
    evaluations_->open(updates, coordination_->members());
    tell_nodes(snapshot_request{updates});
  }
}

void coordinator_state::on_report(const work_report& r) {
  const auto* from = others_->speaking(self_->current_sender());
  if (from == nullptr)
    return;
  others_->heard().heard(from->number, now());
  for (const auto& step : r.steps)
    on_step(step);
  for (const auto& [age, count] : r.staleness)
    summary_.staleness[age] += count;
}

void coordinator_state::on_joined(const worker_joined& m) {
  if (coordination_->is_current(m.source, m.incarnation))
    updates_seen_[m.source] = progress_->updates();
  on(m);
}

void coordinator_state::on_snapshot(snapshot& s) {
  const auto news = without_model(s);
  if (coordination_->is_current(s.source, s.incarnation) && setup_.run->is_evaluated(s.source))
    kept_.keep(std::move(s));
  on_taken(news);
}

void coordinator_state::on_taken(const snapshot_taken& s) {
  if (!coordination_->is_current(s.source, s.incarnation))
    return;
  if (s.evaluation >= coordination::first_final) {
    const model_came news{s.source, s.incarnation, s.evaluation};
    if (coordination_->awaits(news))
      evaluations_->add_final(s);
    return on(news);
  }
  if (coordination_->over())
    return;
  evaluations_->add(s, coordination_->members());
  evaluate_what_is_complete();
}

void coordinator_state::on_evaluation(const evaluated& m) {
  if (!evaluations_->finish(m.number))
    return;
  const auto& record = last_record_ = m.record;
  if (setup_.observer)
    setup_.observer->on_evaluation(record);
  if (!std::isfinite(record.train_loss) || !std::isfinite(record.consensus_distance)) {
    fail({errc::diverged,
          fmt::format("training diverged: at epoch {:.3g} the training loss is {} and the models are {} apart",
                      record.epoch, record.train_loss, record.consensus_distance),
          "lower --lr, or the momentum of --optimiser"});
  } else {
    final_is_known_ = coordination_->over() && evaluations_->done();
    evaluate_next();
    end_when_all_is_done();
  }
}

void coordinator_state::order_checkpoint_when_due() {
  if (writer_ && coordination_->running() && checkpoints_->due(elapsed(), progress_->updates()))
    on(checkpoint_due{});
}

void coordinator_state::on_part(saved_worker& part) {
  if (writer_)
    self_->send(writer_, std::move(part));
}

void coordinator_state::on_part_saved(const part_saved& m) {
  if (!coordination_->is_current(m.source, m.incarnation))
    return;
  if (auto whole = checkpoints_->add(m, coordination_->members(), progress_->ledger(), elapsed()))
    self_->send(writer_, *std::move(whole));
}

void coordinator_state::on_part_not_saved(const part_not_saved& m) {
  if (checkpoints_->fail(m.checkpoint))
    tell_observer(fmt::format("there is no checkpoint {}: {}", m.checkpoint, m.why));
  end_when_all_is_done();
}

void coordinator_state::on_manifest_saved(const manifest_saved& m) {
  const checkpoint_complete news{m.whole, checkpoints_->complete(m.whole.checkpoint)};
  self_->send(writer_, news);
  for (const auto& other : *others_)
    self_->send(other.handle, news);
  end_when_all_is_done();
}

void coordinator_state::on_tick() {
  self_->delayed_send(self_, tick_interval, tick{});
  const auto now = elapsed();
  const auto& limit = setup_.run->settings.seconds;
  if (setup_.interrupted && setup_.interrupted())
    on(stop_run{run_end::interrupted, now});
  else if (limit && now >= *limit)
    on(stop_run{run_end::seconds, now});
  on(time_is{now});
  watch_nodes();
  order_checkpoint_when_due();
  if (coordination_->over() && now > ended_s_ + longest_wait_for_disk_s && checkpoints_->give_up()) {
    tell_observer("the last checkpoint is left out: its parts have not been written in time");
    end_when_all_is_done();
  }
  if (setup_.observer)
    setup_.observer->on_progress(progress(now));
}

progress_record coordinator_state::progress(double now) {
  auto record = progress_->at(now, last_record_.test_accuracy);
  record.nodes += static_cast<std::size_t>(std::ranges::distance(*others_));
  record.nodes_lost = static_cast<std::size_t>(std::ranges::count_if(*others_, &remote_node::lost));
  return record;
}

void coordinator_state::evaluate_what_is_complete() {
  evaluations_->close_complete(progress_->ledger(), elapsed());
  evaluate_next();
}

void coordinator_state::evaluate_next() {
  if (const auto* e = evaluations_->begin()) {
    for (const auto& other : *others_)
      self_->send(other.handle, mean_request{e->request, e->number, ranges_of(e->everybody)});
    self_->send(evaluator_, evaluate_models{kept_.take(e->request, e->number, e->everybody), e->record});
  }
}

void coordinator_state::end_when_all_is_done() {
  if (!final_is_known_ || checkpoints_->is_being_written())
    return;
  summarise();
  self_->send(setup_.client, summary_);
  self_->quit();
}

void coordinator_state::summarise() {
  summary_.final = last_record_;
  for (rank i = 0; i < workers(); ++i)
    summary_.steps_per_worker[i] = progress_->ledger().steps(i);
  summary_.lost = coordination_->lost();
  summary_.returned = coordination_->returned();
  summary_.views = coordination_->views();
}

} // namespace gossamer::actors::detail
