#pragma once

#include "gossamer/actors/hosting/messages.hpp"
#include "gossamer/actors/run/gradient_source.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

namespace gossamer::actors {

/// The parameters of a compute actor.
struct compute_setup {
  /// Makes the source, inside the actor's thread; called again when the actor is restarted.
  std::function<std::unique_ptr<gradient_source>()> make;
  /// Asked before each gradient: 1, or the factor by which it shall seem to take longer than on a worker with an equal
  /// share of the machine. The answer is delayed by the missing time, and the thread stays free meanwhile.
  std::function<double()> slow_down;
  /// Told of each gradient, and of the time that it took until now; may be empty.
  std::function<void(std::uint64_t step, std::chrono::nanoseconds took)> on_gradient;
  double fair_share = 1; ///< workers for each processor, at least 1
  /// The worker goes on in this actor's thread when a gradient is done: for one that waits for others before it wants
  /// the next. One that does not wait would keep its exchanges waiting while that is computed.
  bool lends_thread = false;
  caf::actor supervisor; ///< is told of failures; when it ends, so does this actor
  std::string who;       ///< "the compute actor of worker 3"
};

/// The state of a compute actor between two messages.
struct compute_state {
  /// A gradient that is under way.
  struct work {
    caf::actor asker;
    double slower;
    caf::actor_clock::time_point began;
    std::chrono::duration<double> worked; ///< `thread_time` when it began
  };

  /// Open as long as this actor lives, and with it the system: a thread of the program may come when it has ended.
  struct door {
    std::mutex mutex;
    bool is_open = true;
  };

  compute_state() = default;
  compute_state(const compute_state&) = delete;
  compute_state& operator=(const compute_state&) = delete;
  ~compute_state() {
    const std::scoped_lock lock{way_in->mutex};
    way_in->is_open = false;
  }

  compute_setup setup;
  std::shared_ptr<door> way_in = std::make_shared<door>();
  std::optional<work> under_way;
  std::unique_ptr<gradient_source> source; // last: its end waits for work that is under way
};

/// Computes the gradients of one worker, in a thread of its own unless the program computes them elsewhere: answers
/// each `gradient_job` with a `gradient_result`, one after the other. While a GPU computes, the thread is free; the
/// GPU's driver tells this actor when it has done.
caf::behavior compute_actor(caf::stateful_actor<compute_state>* self, compute_setup setup);

} // namespace gossamer::actors
