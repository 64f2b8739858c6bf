#pragma once

#include "gossamer/actors/simulation/time.hpp"
#include "gossamer/actors/worker/orders.hpp"
#include "gossamer/actors/worker/worker.hpp"

#include <caf/actor.hpp>

#include <memory>
#include <vector>

namespace gossamer::actors::detail {

class simulation;

/// The gradients of one life of a worker, one after the other. None goes on while the worker stands still.
/// Threads: one at a time.
class simulated_gradients : public std::enable_shared_from_this<simulated_gradients> {
public:
  /// @param world outlives this object
  simulated_gradients(simulation& world, rank who) : world_(world), who_(who) {}

  /// Begins a gradient when those before it are done. @param takes its time, without pauses
  void begin(caf::actor asker, virtual_time takes, gradient_result result);
  void stand_still();
  void go_on();
  /// Sends the first gradient to its asker if it is done. Called at the end of each (`gradient_is_due`).
  /// @returns true if it is
  bool look();
  /// Books the time of the present gradient until now.
  void book();
  /// Ends the life: nothing is booked any more. Results are still seen, and come to nobody.
  void end_life();

private:
  struct gradient {
    caf::actor asker;
    gradient_result result;
    virtual_time begins, ends; ///< of the part that is not booked yet
  };
  void ask_for_look(virtual_time when);

  simulation& world_;
  rank who_;
  std::vector<gradient> all_; ///< mostly one, or none: a deque would take half a kilobyte
  bool stands_still_ = false, is_over_ = false;
};

} // namespace gossamer::actors::detail
