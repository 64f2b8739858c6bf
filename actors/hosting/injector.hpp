#pragma once

#include "gossamer/actors/faults/board.hpp"
#include "gossamer/actors/faults/wishes.hpp"
#include "gossamer/actors/hosting/messages.hpp"

namespace gossamer::actors {

/// main -> injector: the run begins now; or this process leads it from now on
struct start_faults {
  caf::actor node;
  double time_s = 0; ///< time of the run: faults before it have begun under another leader, and those that are on stay
};
/// main -> injector: another process leads from now on, and switches faults
struct stop_faults {};
/// injector -> itself
struct begin_fault {
  std::size_t index;
};
struct end_fault {
  std::size_t index;
};
struct look_for_faults {
  std::uint64_t lead = 0; ///< number of the lead in which it looks
};

struct injector_setup {
  std::shared_ptr<fault_board> board;
  std::size_t workers = 1, workers_per_node = 1;
  std::size_t masters = 0; ///< the last of the workers: one that is killed for ever is started anew at once
  /// Called at every switch; kills processes where a fault does; may be empty.
  std::function<void(std::size_t fault, bool on)> on_switch = {};
  std::shared_ptr<fault_wishes> wishes = nullptr; ///< of a live plan; null: none will come
};

/// Switches the faults of a board's plan on and off at their times, or when it hears of their steps (`step_report`),
/// and executes kills, restarts and pauses of workers through a node. A worker that several kills and leaves keep away
/// comes back when the last of them ends, or when it joins. With a live plan, whatever is due begins and ends
/// only where the injector looks, every `live_poll_s`: so a fault that comes then, and the same one in a plan, have the
/// same messages before and behind them.
///
/// An injector that gets wishes stops when its process leads no more: that of the next leader goes on. Without them it
/// is the only one that knows the plan, and goes on wherever the leader is.
caf::behavior fault_injector(caf::event_based_actor* self, injector_setup setup);

} // namespace gossamer::actors

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gossamer::actors::start_faults)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gossamer::actors::stop_faults)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gossamer::actors::begin_fault)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gossamer::actors::end_fault)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gossamer::actors::look_for_faults)
