#pragma once

#include "gossamer/actors/agreement/membership.hpp"
#include "gossamer/actors/evaluation/snapshot_round.hpp"
#include "gossamer/actors/run/experiment.hpp"
#include "gossamer/actors/run/ledger.hpp"
#include "gossamer/actors/telemetry/record.hpp"

#include <deque>

namespace gossamer::actors {

/// Models that have been put aside, to be evaluated.
struct evaluation {
  std::uint64_t number = 0;
  std::vector<life> everybody; ///< lives whose models they are, ascending
  evaluation_record record;    ///< complete but for the quality of the models
  std::uint64_t request = 0;   ///< the number of the `mean_request`
};

/// The evaluations of a run, from the first model that is put aside to the record: those that are complete, and the one
/// that is under way. Only one is under way at a time; when models are lost on their way, it begins anew with the
/// others. A value.
class evaluations {
public:
  /// @param e outlives this object
  /// @param updates number done before, in a run that goes on
  /// @param requests number made before, or more: numbers ascend through the run
  /// @param islands  whether workers count what they send between islands
  explicit evaluations(const experiment& e, std::uint64_t updates = 0, std::uint64_t requests = 0, bool islands = false)
      : run_(&e), has_islands_(islands), next_(updates + e.evaluation_steps * e.settings.workers),
        evaluated_(e.participants()), requests_(requests) {}

  /// True if an evaluation is due after so many updates of all workers. False if the final one follows so soon that
  /// this one would say nothing new.
  bool due(std::uint64_t updates) const {
    const auto every = run_->evaluation_steps * run_->settings.workers;
    return updates >= next_ && updates + every / 2 < run_->planned_updates && collecting_.empty() && done();
  }
  void open(std::uint64_t number, const membership& members) { round(number, members); }
  /// Notes a model that was put aside; the first one of an evaluation opens it.
  void add(const snapshot_taken& s, const membership& members) {
    if (!collecting_.is_late(s))
      round(s.evaluation, members).add(s);
  }
  /// Stops waiting for models of this worker.
  void forget(rank i) { collecting_.forget(i); }
  /// Drops all models of this worker, whose node is lost.
  void lose(rank i);
  /// Queues an evaluation for which no model is missing.
  /// @param seen the workers' reports: the models may be ahead of it
  void close_complete(const ledger& seen, const membership& members, double time_s);

  /// Takes in the counts of a former leader, of which no evaluation may count less.
  void add(const ledger& former) { evaluated_.merge(former); }
  /// The counts at the last evaluation: a dead worker's model may tell more than its reports.
  const ledger& evaluated() const noexcept { return evaluated_; }

  void open_final() { final_.clear(); }
  void add_final(const snapshot_taken& s) { final_.push_back(s); }
  /// Closes the final evaluation without waiting any longer. @param seen is completed by what the models are ahead of
  /// it @returns false when there is no model
  bool close_final(ledger& seen, double time_s) { return close(final_, seen, time_s); }

  bool done() const noexcept { return waiting_.empty(); }
  /// Returns the evaluation whose mean is to be asked for now; null where that has been done, or there is none. Valid
  /// until any other call.
  const evaluation* begin();
  /// @returns true if that was the answer to the last request
  bool finish(std::uint64_t request);

private:
  snapshot_round& round(std::uint64_t number, const membership& members) {
    return collecting_.open(number, [&] { return members.who_is_ready(); });
  }
  bool close(const std::vector<snapshot_taken>& taken, ledger& seen, double time_s);

  const experiment* run_;
  bool has_islands_;
  std::uint64_t next_; // the next one is due after so many updates
  snapshot_rounds collecting_;
  std::vector<snapshot_taken> final_;
  ledger evaluated_;
  std::deque<evaluation> waiting_; // the first may be under way
  bool under_way_ = false;
  std::uint64_t requests_;
};

} // namespace gossamer::actors
