#pragma once

#include "gossamer/actors/run/time_sheet.hpp"
#include "gossamer/actors/simulation/auditor.hpp"
#include "gossamer/actors/simulation/cost_meter.hpp"
#include "gossamer/actors/simulation/time.hpp"
#include "gossamer/actors/telemetry/blame.hpp"
#include "gossamer/actors/telemetry/record.hpp"
#include "gossamer/actors/telemetry/trace.hpp"
#include "gossamer/actors/worker/witness.hpp"

#include <optional>

namespace gossamer::actors {

/// Sees all events of a simulated run: hashes them, draws them, passes them to the auditor, and keeps the list of
/// waits.
class simulation_observer final : public witness, public run_observer {
public:
  /// @param now   the world's clock; outlives this object
  /// @param meter of the present work; outlives this object
  /// @param check null: nothing is checked
  /// @param trace null: nothing is drawn
  /// @param user  told of the leader's records as well; may be null
  simulation_observer(std::size_t workers, std::size_t masters, const virtual_time& now, const cost_meter& meter,
                      auditor* check, trace_recorder* trace, run_observer* user);

  // -- told by the world ----------------------------------------------------------------------------------------------

  /// @param crosses whether it goes to another island
  void carries(const frame& f, bool crosses);
  /// A frame has left `from` and will be at `to`.
  void flies(rank to, const frame& f, virtual_time sent, virtual_time received);
  /// `who` has computed the gradient of this step, or a part of it, without a pause.
  void computes(rank who, std::uint64_t step, virtual_time begins, virtual_time ends);
  void computed(rank who, std::uint64_t step, double loss);
  /// `who` begins to handle a message, and is busy for the sum of the shares.
  void works(rank who, std::span<const work_share> shares);
  void fault(const std::string& what, bool on);

  std::uint64_t hash() const noexcept { return hash_; }
  virtual_time last_step() const noexcept { return last_step_; }
  /// Time of the last step, or of the last frame that a step may be waiting for. The frames that count between two
  /// steps are limited, so that progress without steps comes to an end.
  virtual_time last_progress() const noexcept { return last_progress_; }
  /// "worker 3 waits for model 17 of worker 2; ...", for all waits; the step of each worker if none waits.
  std::string who_waits() const;
  /// @param total length of the run
  blame_table blame(virtual_time total) const;
  std::vector<time_use> time_used() const;
  /// Gradients of workers that have died before they sent anything after them.
  std::uint64_t gradients_lost() const noexcept { return lost_; }

  // -- told by the leader ---------------------------------------------------------------------------------------------

  void on_progress(const progress_record& p) override;
  void on_evaluation(const evaluation_record& r) override;
  void on_event(const event_record& r) override;
  bool watches_workers() const override { return user_ != nullptr && user_->watches_workers(); }
  void on_view(const view_record& r) override;
  /// Adds who waits for whom, and how the workers use their time.
  void on_workers(workers_record r) override;

  // -- told by the workers --------------------------------------------------------------------------------------------

  void begins(rank who, std::uint32_t incarnation) override;
  void ends(rank who, std::uint32_t incarnation) override;
  void adopts(rank who, const view& v) override;
  void reports(rank who, const traffic& ledger) override;
  void wait_begins(rank who, rank whom, const tag& wanted) override;
  void wait_ends(rank who, rank whom) override;
  void pauses(rank who, virtual_time lasts) override;
  void step_begins(rank who, std::uint64_t t, const view& v) override;
  void delivered(rank who, const frame& f) override;
  void dropped_stale(rank who, const frame& f, std::uint64_t t) override;
  void claims_equal(rank who, std::string_view what, std::uint64_t step, const vec& v) override;
  void claims_conserved(rank who, std::string_view what, std::uint64_t step, const view& v, const vec& before,
                        const vec& after) override;
  void claims_opposite(rank who, const exchange_half& half, const vec& delta) override;
  void saves(rank who, std::uint64_t number) override;
  void hands_over(rank who, rank heir, const vec& residual) override;
  void takes_over(rank who, rank from, const vec& residual, const vec& before, const vec& after) override;
  void recalls(rank who) override;

private:
  void mix(std::uint64_t word) noexcept;
  std::uint64_t most_frames_between_steps() const noexcept;
  std::string name_of(rank who) const;
  trace_track worker_track(rank who);
  trace_track link_track(rank from, rank to);

  const virtual_time& now_;
  const cost_meter& meter_;
  auditor* check_;
  trace_recorder* trace_;
  run_observer* user_;
  std::uint64_t hash_ = 0;
  virtual_time last_step_{}, last_progress_{};
  std::uint64_t frames_since_step_ = 0, lost_ = 0;
  std::vector<std::uint64_t> unsent_;          // gradients of each worker since its last frame
  std::vector<std::uint64_t> steps_;           // last begun step of each worker
  std::vector<time_sheet> sheets_;             // of each worker
  std::map<std::string, virtual_time> faults_; // faults that are on, with their begin
  rank first_master_;
};

} // namespace gossamer::actors
