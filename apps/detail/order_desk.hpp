#pragma once

#include "gossamer/actors/faults/wishes.hpp"
#include "gossamer/apps/detail/pace.hpp"
#include "gossamer/apps/detail/setup.hpp"

namespace gossamer::apps {

/// Carries out what somebody orders who watches a run: the text of one fault, "heal", and for simulations "hold",
/// "step", "go on" and "speed X", X virtual seconds a second. Threads: any.
class order_desk {
public:
  /// @param held the simulation that may be held; null: none
  order_desk(const run_setup& run, std::shared_ptr<actors::fault_wishes> wishes, std::shared_ptr<pace> held = nullptr)
      : experiment_(run.experiment), world_(run.options.world), wishes_(std::move(wishes)), held_(std::move(held)) {}

  /// Of a run in real time. @param workers_per_node for faults of nodes
  order_desk(std::shared_ptr<const actors::experiment> e, std::size_t workers_per_node,
             std::shared_ptr<actors::fault_wishes> wishes)
      : experiment_(std::move(e)), world_{.workers_per_node = workers_per_node}, wishes_(std::move(wishes)) {}

  /// @returns what was done, for people @error errc::usage
  std::string obey(const std::string& order) const;

private:
  std::string set_pace(const std::string& order) const;
  std::string strike(const std::string& text) const;

  std::shared_ptr<const actors::experiment> experiment_;
  actors::simulation_settings world_;
  std::shared_ptr<actors::fault_wishes> wishes_;
  std::shared_ptr<pace> held_;
};

} // namespace gossamer::apps
