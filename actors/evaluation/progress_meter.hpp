#pragma once

#include "gossamer/actors/run/checkpoint.hpp"
#include "gossamer/actors/run/experiment.hpp"
#include "gossamer/actors/run/ledger.hpp"
#include "gossamer/actors/telemetry/record.hpp"

namespace gossamer::actors {

/// The progress of a run, by its workers' reports.
class progress_meter {
public:
  /// @param e outlives this object
  explicit progress_meter(const experiment& e)
      : run_(&e), ledger_(e.participants()),
        announce_every_(std::max<std::uint64_t>(e.settings.workers, e.planned_updates / announcements_per_run)) {}

  /// Continues from a checkpoint. Counts of ranks that the run no longer has go to those of former lives.
  void go_on_from(const manifest& m) {
    updates_ = m.updates();
    ledger_.bring(m.former_gradients, m.former_sent);
    for (const auto& [who, part] : m.parts)
      if (const auto i = rank_in(m, who))
        ledger_.record(*i, 0, part.gradients, part.sent);
      else
        ledger_.bring(part.gradients, part.sent);
  }

  /// Adds the counts of another process.
  void add(const actors::ledger& known) {
    ledger_.merge(known);
    updates_ = ledger_.steps();
  }

  /// Adds another process's counts of one rank.
  void add(rank i, const actors::ledger& known) {
    ledger_.merge(i, known);
    updates_ = ledger_.steps();
  }

  /// Counts a step. Ignores one that no worker can have reached: it would bring the run to its planned end.
  void count(const step_report& r) {
    if (r.step > run_->planned_updates)
      return;
    const bool is_first = reports_++ == 0;
    const auto before = ledger_.steps(r.source);
    ledger_.record(r.source, r.incarnation, r.step, r.sent);
    updates_ += ledger_.steps(r.source) - before; // several, where a former leader was told of the others
    smoothed_loss_ = is_first ? r.loss : loss_memory * smoothed_loss_ + (1 - loss_memory) * r.loss;
  }

  std::uint64_t updates() const noexcept { return updates_; } ///< of all workers
  std::uint64_t left() const { return run_->planned_updates - std::min(updates_, run_->planned_updates); }
  /// True if all should be told, for the schedules of asynchronous runs.
  bool worth_announcing() const noexcept { return updates_ % announce_every_ == 0; }
  /// Of all workers' minibatches.
  std::optional<double> smoothed_loss() const noexcept {
    return reports_ > 0 ? std::optional{smoothed_loss_} : std::nullopt;
  }
  actors::ledger& ledger() noexcept { return ledger_; }

  /// @param accuracy of the last evaluation
  progress_record at(double time_s, std::optional<double> accuracy) const {
    progress_record p;
    p.time_s = time_s;
    p.epoch = run_->epoch_of(updates_);
    p.planned_epochs = run_->planned_epochs;
    p.loss = smoothed_loss_;
    p.accuracy = accuracy;
    p.steps_per_second = static_cast<double>(updates_) / time_s;
    const auto sent = ledger_.sent();
    p.bits_per_second = static_cast<double>(sent.payload_bits) / time_s;
    if (run_->averages_pairs() && updates_ > 0 && sent.averaged != averagings{}) // else the algorithm counts none
      p.averagings_per_step = static_cast<double>(sent.averaged.done) / static_cast<double>(updates_);
    p.remaining_s = static_cast<double>(left()) / p.steps_per_second;
    if (const auto& limit = run_->settings.seconds)
      p.remaining_s = std::min(p.remaining_s, std::max(0.0, *limit - time_s)); // the last models may come later
    return p;
  }

private:
  static constexpr double loss_memory = 0.95; // share of the smoothed loss that is kept per report
  static constexpr std::uint64_t announcements_per_run = 200;

  /// Returns the present rank of a worker or master of a checkpoint; `nullopt` if the run no longer has it.
  std::optional<rank> rank_in(const manifest& m, rank who) const {
    const auto ranks = run_->settings.worker_ranks();
    const auto role = who < m.workers ? std::uint64_t{who} : ranks + who - m.workers;
    const bool is_there = who < m.workers ? role < ranks : role < run_->participants();
    return is_there ? std::optional{static_cast<rank>(role)} : std::nullopt;
  }

  const experiment* run_;
  actors::ledger ledger_;
  std::uint64_t updates_ = 0, reports_ = 0;
  double smoothed_loss_ = 0;
  std::uint64_t announce_every_;
};

} // namespace gossamer::actors
