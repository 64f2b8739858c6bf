#pragma once

#include "gossamer/actors/runtime/checkpoints.hpp"
#include "gossamer/actors/runtime/conflicts.hpp"
#include "gossamer/actors/runtime/coordination.hpp"
#include "gossamer/actors/runtime/coordinator.hpp"
#include "gossamer/actors/runtime/evaluations.hpp"
#include "gossamer/actors/runtime/kept_models.hpp"
#include "gossamer/actors/runtime/local_node.hpp"
#include "gossamer/actors/runtime/progress_meter.hpp"

namespace gossamer::actors::detail {

inline constexpr auto tick_interval = std::chrono::milliseconds(100);
inline constexpr double longest_wait_for_disk_s = 10; // at the end of a run

using seconds = std::chrono::duration<double>;

/// Turns messages into events of the coordination, and its orders into messages; counts; evaluates; has states saved.
class coordinator_state {
public:
  coordinator_state() = default;
  coordinator_state(const coordinator_state&) = delete;
  coordinator_state& operator=(const coordinator_state&) = delete;
  ~coordinator_state() { // however the run ends, its actors end with it
    for (const auto& one : {evaluator_, writer_})
      if (one)
        caf::anon_send_exit(one, caf::exit_reason::user_shutdown);
  }

  void open(caf::event_based_actor* self, coordinator_setup setup);
  void start();
  void on_tick();

  // -- steps and evaluations ------------------------------------------------------------------------------------------

  void on_step(const step_report& r);
  void on_report(const work_report& r);
  void on_applied(const gradient_applied& m) { ++summary_.staleness[m.staleness]; }

  void on_joined(const worker_joined& m);
  void on_snapshot(snapshot& s);
  void on_taken(const snapshot_taken& s);
  void on_evaluation(const evaluated& m);

  // -- checkpoints ----------------------------------------------------------------------------------------------------

  void order_checkpoint_when_due();
  void on_part(saved_worker& part);
  void on_part_saved(const part_saved& m);
  void on_part_not_saved(const part_not_saved& m);
  void on_manifest_saved(const manifest_saved& m);

  // -- who is there ---------------------------------------------------------------------------------------------------

  /// An event of the coordination, and what follows from it.
  template <class Event>
  void on(const Event& event) {
    for (const auto& what : coordination_->on(event))
      std::visit([&](const auto& one) { obey(one); }, what);
  }

  void on_down(const caf::down_msg& down);

  /// Two nodes do not reach each other.
  void on_complaint(const node_lost& m);

  /// Its workers begin their next lives.
  void on_returned(const node_returned& m);
  void pause(const pause_worker& m) { tell_node_of(m.who, m); }

  void tell_observer(const std::string& what);
  void fail(const run_failed& failure);

private:
  std::size_t workers() const { return setup_.run->settings.workers; }
  failure_detector::time now() const { return self_->clock().now() - began_; }
  double elapsed() const { return seconds{now()}.count(); }

  template <class Order>
  void tell_nodes(const Order& m) {
    own_node_->obey(m);
    for (const auto& other : *others_)
      self_->send(other.handle, m);
  }

  template <class Order>
  void tell_node_of(rank i, const Order& m) {
    if (const auto* elsewhere = others_->home_of(i))
      self_->send(elsewhere->handle, m);
    else
      own_node_->obey(m);
  }

  void notice(const worker_lost& loss);

  /// Those that are silent are lost; all others hear that this one is there.
  void watch_nodes();
  void lose(remote_node& other, const std::string& why);
  progress_record progress(double now);

  // -- orders ---------------------------------------------------------------------------------------------------------

  void obey(const hold_steps& m) { tell_nodes(m); }
  void obey(const decision& m) { tell_nodes(m); }

  void obey(const snapshot_request& m);
  void obey(const save_checkpoint& m);
  void obey(const start_worker& m);
  void obey(const stop_worker& m) { tell_node_of(m.who, m); }

  void obey(const forget_worker& m);
  void obey(const end_run& m);
  void obey(const run_failed& m) { fail(m); }

  // -- evaluations ----------------------------------------------------------------------------------------------------

  void evaluate_what_is_complete();
  void evaluate_next();
  void end_when_all_is_done();
  void summarise();

  caf::event_based_actor* self_ = nullptr;
  coordinator_setup setup_;
  caf::actor evaluator_;
  caf::actor writer_; // of checkpoints; null where there are none
  std::optional<coordination> coordination_;
  std::optional<local_node> own_node_;
  std::optional<remote_nodes> others_;
  conflicts conflicts_;
  failure_detector::time last_heartbeat_{};
  caf::actor_clock::time_point began_;

  std::optional<progress_meter> progress_;
  std::vector<std::uint64_t> updates_seen_; // by each worker, when it last read its model: with its last report
  run_summary summary_;

  kept_models kept_; // of this process
  std::optional<evaluations> evaluations_;
  std::optional<checkpoints> checkpoints_;
  double ended_s_ = 0;
  bool final_is_known_ = false; // what the run has come to
  evaluation_record last_record_;
};

} // namespace gossamer::actors::detail
