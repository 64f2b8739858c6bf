#pragma once

#include "gossamer/actors/faults/board.hpp"
#include "gossamer/actors/hosting/messages.hpp"

namespace gossamer::actors {

/// main -> injector: the run begins now
struct start_faults {
  caf::actor node;
};
/// injector -> itself
struct begin_fault {
  std::size_t index;
};
struct end_fault {
  std::size_t index;
};

/// Switches the faults of a board's plan on and off at their times, or when it hears of their steps (`step_report`),
/// and executes kills, restarts and pauses of workers through a node.
/// @param on_switch called at every switch; kills processes where a fault does; may be empty
caf::behavior fault_injector(caf::event_based_actor* self, std::shared_ptr<fault_board> board, std::size_t workers,
                             std::size_t workers_per_node, std::function<void(std::size_t fault, bool on)> on_switch);

} // namespace gossamer::actors

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gossamer::actors::start_faults)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gossamer::actors::begin_fault)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gossamer::actors::end_fault)
