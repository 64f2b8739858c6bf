#pragma once

#include "gossamer/actors/faults/faulty_link.hpp"
#include "gossamer/actors/frames/sink_table.hpp"
#include "gossamer/actors/node/world.hpp"
#include "gossamer/actors/simulated/detail/simulated_gradients.hpp"
#include "gossamer/actors/simulated/detail/simulated_processes.hpp"
#include "gossamer/actors/simulated/simulated_world.hpp"
#include "gossamer/actors/simulation/compute_cost.hpp"
#include "gossamer/actors/simulation/cost_meter.hpp"
#include "gossamer/actors/simulation/event_queue.hpp"
#include "gossamer/actors/simulation/network_model.hpp"
#include "gossamer/actors/simulation/observer.hpp"
#include "gossamer/actors/simulation/standstill.hpp"

#include <caf/scheduler/test_coordinator.hpp>

#include <variant>

namespace gossamer::actors::detail {

/// A frame that was sent leaves, because the work before it is done.
struct frame_leaves {
  sink_table::entry target;
  rank to;
  std::uint64_t number; // number on its link
  frame f;
};
/// The first bit of a frame is at its receiver's card; with `frame_is_in`, the last one.
struct frame_comes {
  sink_table::entry target;
  rank to;
  virtual_time sent;
  frame f;
};
struct frame_is_in {
  sink_table::entry target;
  frame f;
};
/// A gradient is done, unless a pause has put off its end.
struct gradient_is_due {
  std::shared_ptr<simulated_gradients> of;
};
struct postponed_is_due {
  std::function<void()> what;
};
using event = std::variant<std::monostate, frame_leaves, frame_comes, frame_is_in, gradient_is_due, postponed_is_due>;

/// Everything that the actors of one simulated run share. One thread, so nothing is locked.
class simulation final : public transport {
public:
  simulation(const std::shared_ptr<const experiment>& e, const simulation_settings& s, const run_surroundings& around);
  ~simulation() override;
  simulation(const simulation&) = delete;
  simulation& operator=(const simulation&) = delete;

  simulation_result run();

  void attach(life who, frame_sink sink) override;
  std::unique_ptr<link> link_to(rank from, life to) override;

  rank node_of(rank i) const { return homes_[i]; }
  island_map islands() const;
  std::size_t batch() const { return run_->settings.batch; }
  virtual_time now() const noexcept { return now_; }
  cost_meter& meter() noexcept { return meter_; }
  /// Returns the present time, with the work of the present handler so far.
  virtual_time moment() const noexcept { return later(now_, meter_.spent()); }
  void leave(frame_leaves what); ///< sends a frame as soon as the processes of both ends have met
  simulation_observer& observer() noexcept { return observer_; }
  void at(virtual_time time, event what);
  /// @param share of the samples of a minibatch
  virtual_time cost_of(rank who, std::uint64_t step, double share) const {
    return cost_.of(who, step, share * board_->slow_down(who));
  }

  /// Null if the run has one process.
  simulated_processes* processes() noexcept { return processes_ ? &*processes_ : nullptr; }

  void on_end(run_summary s) { summary_ = std::move(s); }
  void on_failure(run_failed f) { failure_ = std::move(f); }

private:
  simulation(std::shared_ptr<const experiment> e, const simulation_settings& s, const run_surroundings& around,
             const std::shared_ptr<const network>& net);
  void spawn_actors();
  void spawn_processes();
  void fly(frame_leaves what);
  world_parts parts(std::uint32_t node = 0);
  sink_table::entry target_of(life to);
  void hand_over(life to, frame f);
  bool over() const { return summary_ || failure_; }
  void run_one_actor();
  void advance();
  void happen(event what);
  void on_fault(std::size_t index, bool on);
  void look_for_trouble(bool is_under_way);
  /// Returns since when the plan of faults leaves the run alone; the end of time while it does not.
  virtual_time quiet_since() const;
  void complain(std::string what) { broken_ = broken_.value_or(std::move(what)); }
  /// Returns this object, which outlives its actors.
  std::shared_ptr<transport> shared_transport() { return {std::shared_ptr<transport>{}, this}; }
  std::optional<fault> endless_fault() const;
  std::optional<rank> lost_master() const;
  void look_for_interrupt();
  void set_time(virtual_time t);
  std::uint64_t first_number(rank from, life to);

  std::shared_ptr<const experiment> run_;
  simulation_settings settings_;
  run_surroundings around_;
  std::shared_ptr<fault_board> board_;
  std::shared_ptr<fault_count> count_ = std::make_shared<fault_count>();
  std::shared_ptr<const faulty_surroundings> faulty_;
  sink_table sinks_;
  std::map<life, std::vector<frame>> early_; // frames for lives that the sender's process knows before their own does
  std::vector<std::shared_ptr<compute::model>> models_; // one on each device: gradients happen one after the other

  virtual_time now_{};
  event_queue<event> events_;
  std::vector<rank> homes_;                                    // the node of each worker and master
  std::map<std::pair<rank, rank>, std::uint64_t> later_links_; // their number, by the nodes that they join
  network_model network_;
  compute_cost cost_;
  std::optional<random_sequence> choice_; // which actor runs next
  std::uint64_t happened_ = 0;
  standstill standstill_{run_->participants()};
  bool interrupted_ = false;
  virtual_time last_switch_{};       // time of the last switch of a fault
  int passing_faults_ = 0;           // number of faults that are on, and will end
  std::vector<std::size_t> endless_; // faults that are on, by index
  auditor auditor_;
  cost_meter meter_;
  simulation_observer observer_;

  caf::actor_system_config config_;
  caf::actor_system system_;
  caf::scheduler::test_coordinator& scheduler_;
  caf::actor_clock::time_point began_;
  caf::actor client_, injector_, node_;
  std::optional<run_summary> summary_;
  std::optional<run_failed> failure_;
  std::optional<std::string> broken_;                           // a broken promise of processes
  std::vector<std::shared_ptr<simulated_gradients>> gradients_; // of the last life of each worker; null for masters
  std::optional<simulated_processes> processes_;                // ends before the actor system
};

} // namespace gossamer::actors::detail
