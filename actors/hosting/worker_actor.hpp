#pragma once

#include "gossamer/actors/frames/connections.hpp"
#include "gossamer/actors/hosting/kept_states.hpp"
#include "gossamer/actors/hosting/messages.hpp"
#include "gossamer/actors/hosting/worker_gauge.hpp"
#include "gossamer/actors/worker/work_clock.hpp"

#include <functional>

namespace gossamer::actors {

/// The parameters of a worker actor beside the worker's own settings.
struct worker_setup {
  worker_settings settings;
  std::string name; ///< "worker 3"
  std::unique_ptr<actors::algorithm> algorithm;
  std::unique_ptr<compute::optimiser> optimiser;
  bool own_thread = false; ///< for a worker that waits for a GPU, which a scheduler's thread must not
  compute_failure on_compute_failure = compute_failure::end_run;
  /// Starts a compute actor; called again when one died and the algorithm allows a restart. Null for a master.
  std::function<caf::actor(caf::local_actor* parent)> spawn_compute;
  std::shared_ptr<actors::transport> transport;
  bool acknowledged = false;             ///< as in `connections`
  std::uint64_t most_under_way = 0;      ///< bytes to one peer, before steps wait
  std::shared_ptr<kept_states> kept;     ///< null: no worker will be started anew
  std::shared_ptr<kept_states> left_out; ///< states of workers that live and take no part: they may come back
  work_clock* clock = nullptr;           ///< outlives the worker; null: handlers take no other time than their own
  std::shared_ptr<worker_gauge> gauge = std::make_shared<worker_gauge>(); ///< counts and measures; never null
  caf::actor node;
};

/// Spawns the communication actor of a worker: it owns the worker and its algorithm, and is their host. The mailbox is
/// the only way in. Messages: `meet_peers` and `start_run` first; then `frame`, `gradient_result` and the requests of
/// its node.
caf::actor spawn_worker(caf::actor_system& system, worker_setup setup);

} // namespace gossamer::actors
