// Counting, evaluating and saving: for a node's own workers, and for the whole run while it leads.
#include "gossamer/actors/node/detail/node_state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace gossamer::actors::detail {

namespace {

/// A number as messages show it: the sign of NaN means nothing, and differs between machines.
double as_shown(double value) { return std::isnan(value) ? std::abs(value) : value; }

} // namespace

// -- steps ------------------------------------------------------------------------------------------------------------

void node_state::on_step(const step_report& r) {
  if (leadership_)
    return count(r);
  if (protocol_->is_current(r.source, r.incarnation))
    books_.counted.record(r.source, r.incarnation, r.step, r.sent);
  news_.steps.push_back(r);
  const bool ends_by_count = !setup_.run->algorithm->traits.synchronous;
  if (ends_by_count && news_.steps.size() >= setup_.run->planned_updates / least_reports)
    hand_on_news();
}

void node_state::on_applied(const gradient_applied& m) {
  ++(leadership_ ? leadership_->summary.staleness : news_.staleness)[m.staleness];
}

/// Takes in the leader's books; or those of any node, where this process has just taken the lead.
void node_state::on_books(const run_books& m) {
  if (speaker() == nullptr)
    return;
  if (!leadership_)
    return books_.merge(m);
  leadership_->add(m);
  close_ended_lives();
  if (!setup_.run->algorithm->traits.synchronous)
    in_leader(run_progress{leadership_->progress.updates()});
}

run_books node_state::known_books() { return leadership_ ? leadership_->books() : books_; }

void node_state::tell_voters_of_books() {
  const auto books = known_books();
  for (const auto& other : *others_)
    if (is_spoken_to(other) && protocol_->delegate().last().voters.contains(other.number))
      self_->send(other.handle, books);
}

/// True if the worker's node is lost, too: its work since the node's last report is unknown.
bool node_state::has_died_with_its_node(rank i) {
  const auto* home = others_->home_of(i);
  return home != nullptr && seats()[home->number].is != consensus::health::state::well;
}

void node_state::hand_on_news() {
  const bool nothing = news_.steps.empty() && news_.staleness.empty();
  if (nothing && now() - last_report_ < heartbeat_every)
    return;
  last_report_ = now();
  if (leader_is_watched_ && now() - last_activity_ >= between_activities) {
    last_activity_ = now();
    news_.activity = setup_.spawn.gauges->sample(now());
  }
  if (const auto* leader = others_->numbered(protocol_->leader_node()); leader != nullptr && leader->is_met())
    self_->send(leader->handle, std::exchange(news_, {}));
}

void node_state::on_report(const work_report& r) {
  hear();
  if (speaker() == nullptr || !leadership_)
    return;
  for (const auto& one : r.activity)
    leadership_->activity[one.who] = one;
  for (const auto& [age, times] : r.staleness)
    leadership_->summary.staleness[age] += times;
  for (const auto& step : r.steps) // may end the lead of this node
    count(step);
}

void node_state::count(const step_report& r) {
  if (!leadership_ || !protocol_->leader()->members().is_current(r.source, r.incarnation))
    return;
  auto& seen = *leadership_;
  if (setup_.client.steps_to)
    self_->send(setup_.client.steps_to, r);
  seen.progress.count(r);
  seen.summary.stale_frames += r.stale_frames;
  order_checkpoint_when_due();
  if (setup_.run->algorithm->traits.synchronous)
    return;
  const auto updates = seen.progress.updates();
  const auto read_at = std::exchange(seen.updates_seen[r.source], updates);
  if (setup_.run->averages_pairs())
    on_applied({updates - 1 - std::min(read_at, updates - 1)});
  if (seen.progress.worth_announcing()) {
    tell_workers(run_progress{updates});
    tell_others(run_progress{updates});
  }
  in_leader(run_progress{updates});
  const auto* leader = protocol_->leader();
  if (leadership_ && leader->running() && seen.evaluating.due(updates)) {
    const auto number = seen.first_evaluation + updates;
    seen.evaluating.open(number, leader->members());
    tell_workers(snapshot_request{number});
    tell_others(snapshot_request{number});
  }
}

void node_state::on_joined(const worker_joined& m) {
  on_worker(m.source, m);
  if (leadership_ && protocol_->leader()->members().is_current(m.source, m.incarnation))
    leadership_->updates_seen[m.source] = leadership_->progress.updates();
}

void node_state::on_loss(const worker_lost& m) {
  if (ended_) // as in `notice`
    return;
  if (self_->current_sender() == nullptr) // from the evaluator of this process: the worker has sent nonsense
    pass_on(kill_worker{m.who, false});
  else
    on_worker(m.who, m);
}

void node_state::on_failure(const run_failed& m) {
  const auto& sender = self_->current_sender();
  const bool is_own = sender && (sender->address() == evaluator_.address() || own_node_->has_worker(sender));
  if (leadership_ && (is_own || speaker() != nullptr)) // a node that was left out must not end the run of the others
    fail(m);
  else if (is_own)
    tell_leader(m);
}

/// Follows the user's wishes, and the time limit.
void node_state::look_after_run() {
  const auto now = elapsed();
  const auto& limit = setup_.run->settings.seconds;
  if (setup_.client.interrupted && setup_.client.interrupted())
    in_leader(stop_run{run_end::interrupted, now});
  else if (limit && now >= *limit)
    in_leader(stop_run{run_end::seconds, now});
  if (leadership_ && protocol_->leader()->over()
      && now > std::max(leadership_->ended_s, leadership_->saving.heard_s()) + longest_wait_for_disk_s
      && leadership_->saving.give_up()) {
    tell_observer(event_kind::note, "the last checkpoint is left out: its parts have not been written in time");
    end_when_all_is_done();
  }
}

progress_record node_state::progress(double now) {
  auto record = leadership_->progress.at(now, leadership_->last_record.test_accuracy);
  for (const auto& other : *others_)
    if (seats()[other.number].taken) {
      ++record.nodes;
      record.nodes_lost += seats().is_gone(other.number);
    }
  return record;
}

// -- evaluations ------------------------------------------------------------------------------------------------------

/// Keeps a worker's model here. A master's model may have to go to the leader's node.
void node_state::on_snapshot(snapshot& s) {
  const auto leader = protocol_->leader_node();
  if (s.source >= workers() && leader != setup_.number && lives_here(s.source))
    return setup_.others.send_masters_model(s, leader);
  const auto news = without_model(s);
  if (setup_.run->is_evaluated(s.source))
    kept_.keep(std::move(s));
  on_taken(news);
}

void node_state::on_taken(const snapshot_taken& s) {
  if (!leadership_)
    return speaker() == nullptr ? tell_leader(s) : void();
  const auto& leader = *protocol_->leader();
  if (!leader.members().is_current(s.source, s.incarnation))
    return;
  if (s.evaluation >= coordination::first_final) {
    const model_came news{s.source, s.incarnation, s.evaluation};
    if (leader.awaits(news))
      leadership_->evaluating.add_final(s);
    return in_leader(news);
  }
  if (leader.over())
    return;
  leadership_->evaluating.add(s, leader.members());
  evaluate_what_is_complete();
}

/// Ignores requests of a leader that was cut off and has a successor: they may come late.
void node_state::on_request(const mean_request& m) {
  const auto leader_since = (m.number - 1) / leadership::most_evaluations + 1;
  const auto& agreement = protocol_->delegate();
  const bool has_successor = m.root != protocol_->leader_node() && leader_since <= agreement.last().number();
  const bool means_former_life = !agreement.last().knows(setup_.number, agreement.life()); // which had the models
  if (m.number <= last_request_ || has_successor || means_former_life)
    return;
  last_request_ = m.number;
  const auto everybody = lives_in(m.lives, setup_.run->participants());
  self_->send(evaluator_, evaluate_models{kept_.take(m.number, m.evaluation, m.root, everybody)});
}

void node_state::on_evaluation(const evaluated& m) {
  if (!leadership_ || !leadership_->evaluating.finish(m.number))
    return;
  auto& record = leadership_->last_record = m.record;
  const bool measured = setup_.run->host.model->measures_training_loss();
  if (!measured)
    record.train_loss = leadership_->progress.smoothed_loss().value_or(NAN);
  tell_voters_of_books(); // first: the next leader must not know less than what is written down
  show([&](run_observer& o) { o.on_evaluation(record); });
  if (setup_.run->host.model->computes_elsewhere()) {
    const mean_evaluated news{record.epoch, record.train_loss, record.test_loss, record.test_accuracy.value_or(NAN)};
    tell_model(news);
    tell_others(news);
  }
  if ((measured && !std::isfinite(record.train_loss)) || !std::isfinite(record.consensus_distance)) {
    fail({errc::diverged,
          fmt::format("training diverged: at epoch {:.3g} the training loss is {} and the models are {} apart",
                      record.epoch, as_shown(record.train_loss), as_shown(record.consensus_distance)),
          "lower the learning rate, or clip gradients"});
  } else {
    leadership_->final_is_known = protocol_->leader()->over() && leadership_->evaluating.done();
    evaluate_next();
    end_when_all_is_done();
  }
}

void node_state::tell_model(const mean_evaluated& m) const {
  const std::optional<double> accuracy =
      std::isnan(m.test_accuracy) ? std::nullopt : std::optional<double>{m.test_accuracy};
  setup_.run->host.model->hear({m.epoch, m.train_loss, {m.test_loss, accuracy}});
}

void node_state::evaluate_what_is_complete() {
  leadership_->evaluating.close_complete(leadership_->progress.ledger(), protocol_->leader()->members(), elapsed());
  evaluate_next();
}

void node_state::evaluate_next() {
  if (const auto* e = leadership_->evaluating.begin()) {
    tell_others(mean_request{e->request, e->number, setup_.number, ranges_of(e->everybody)});
    self_->send(evaluator_, evaluate_models{kept_.take(e->request, e->number, setup_.number, e->everybody), e->record});
  }
}

void node_state::end_when_all_is_done() {
  if (!leadership_->final_is_known || leadership_->saving.is_being_written() || std::exchange(ended_, true))
    return;
  if (const auto missed = describe_missed(setup_.faults ? setup_.faults->awaited() : std::vector<fault>{});
      !missed.empty())
    tell_observer(event_kind::note, missed);
  summarise();
  leadership_->shown_s = 0;
  show_workers();
  self_->send(setup_.client.actor, leadership_->summary);
}

void node_state::summarise() {
  auto& all = leadership_->summary;
  all.final = leadership_->last_record;
  for (rank i = 0; i < workers(); ++i)
    all.steps_per_worker[i] = leadership_->progress.ledger().steps(i);
  const auto books = known_books();
  all.lost = books.counted.lost();
  all.returned = books.counted.returned();
  all.unreported = books.unreported;
  all.views = protocol_->leader()->views();
}

// -- checkpoints ------------------------------------------------------------------------------------------------------

void node_state::order_checkpoint_when_due() {
  const auto& leader = *protocol_->leader();
  if (writer_ && leader.running()
      && leadership_->saving.due(elapsed(), leadership_->progress.updates(), leader.members()))
    in_leader(checkpoint_due{});
}

void node_state::save_workers(const save_checkpoint& m) { own_node_->obey(m); }

/// Sends the states here to the client of a node that is left alone: no other process will ask for them any more.
void node_state::save_what_is_left() {
  actors::what_is_left known;
  if (is_left_alone_) {
    rescuer_ = setup_.client.actor;
    known = {own_node_->obey(save_as_it_stands{}), elapsed(), known_books().counted.steps()};
  }
  self_->send(setup_.client.actor, known);
}

void node_state::on_part(saved_worker& part) {
  if (rescuer_)
    self_->send(rescuer_, std::move(part));
  else if (writer_)
    self_->send(writer_, std::move(part));
}

void node_state::on_part_saved(const part_saved& m) {
  if (!leadership_)
    return speaker() == nullptr ? tell_leader(m) : void();
  const auto& members = protocol_->leader()->members();
  if (!members.is_current(m.source, m.incarnation))
    return;
  if (leadership_->saving.is_torn(m.checkpoint, members))
    return on_part_not_saved({m.checkpoint, "a master was lost before it had begun"});
  if (auto whole = leadership_->saving.add(m, members, leadership_->progress.ledger(), elapsed()))
    self_->send(writer_, *std::move(whole));
}

void node_state::on_part_not_saved(const part_not_saved& m) {
  if (!leadership_) {
    const auto* from = speaker();
    if (from == nullptr)
      return tell_leader(m);
    return from->number == protocol_->leader_node() && writer_ ? self_->send(writer_, m) : void();
  }
  if (leadership_->saving.fail(m.checkpoint)) {
    discard_parts(m);
    tell_observer(event_kind::note, fmt::format("there is no checkpoint {}: {}", m.checkpoint, m.why));
  }
  end_when_all_is_done();
}

/// Tells all nodes that a checkpoint is given up: its parts would fill their disks.
void node_state::discard_parts(const part_not_saved& m) {
  if (writer_)
    self_->send(writer_, m);
  tell_others(m);
}

void node_state::on_manifest_saved(const manifest_saved& m) {
  if (!leadership_)
    return;
  leadership_->saving.complete(m.whole.checkpoint);
  if (setup_.client.on_checkpoint)
    setup_.client.on_checkpoint(m.whole.checkpoint);
  const checkpoint_complete news{m.whole};
  self_->send(writer_, news);
  tell_others(news);
  end_when_all_is_done();
}

void node_state::on_complete(const checkpoint_complete& m) {
  if (writer_)
    self_->send(writer_, m);
}

} // namespace gossamer::actors::detail
