#pragma once

#include "gossamer/actors/node/run_surroundings.hpp"
#include "gossamer/actors/run/experiment.hpp"
#include "gossamer/actors/simulation/work_costs.hpp"
#include "gossamer/actors/telemetry/blame.hpp"
#include "gossamer/actors/telemetry/time_use.hpp"
#include "gossamer/actors/telemetry/trace.hpp"

#include <memory>
#include <string>

namespace gossamer::actors {

/// The world that a simulated run lives in. Times are virtual seconds.
struct simulation_settings {
  std::string network = "tang-best"; ///< a spec of `networks()`
  std::string links = {};            ///< overrides of single links (`parse_link_overrides`)
  double bandwidth_factor = 1;       ///< times the bandwidths of all links and cards
  double sample_time_s = 2e-5;       ///< a worker's time for one sample of its minibatch
  std::string jitter = "none";       ///< a spec of `compute_jitters()`
  work_costs cost = default_costs(); ///< costs of all that workers do beside gradients
  std::size_t workers_per_node = 1;  ///< workers that share a network card; frames within a node take no time
  /// Each node is a process of its own, as in a cluster. Implied where the plan of faults kills processes.
  bool processes = false;
  double process_patience_s = 10; ///< patience of a process with a silent one, as of nodes in a cluster
  double prepare_s = 0;           ///< time that a later process takes to prepare the run

  std::uint64_t interleaving = 0; ///< number of the interleaving; 0: ready actors run in the order of their messages
  double detection_s = 0.1;       ///< from the death of a worker or process to the moment it is noticed
  double patience_s = 600;        ///< a run that does no step for so long, while no fault of the plan is left, hangs
  bool check = true;              ///< audits the run (auditor.hpp)
  std::shared_ptr<trace_recorder> trace = {}; ///< draws the run, up to its failure if it fails; null: no trace
};

/// The result of a simulated run.
struct simulation_result {
  run_summary summary;
  /// Hash of everything that happened, in its order: gradients with their losses, frames, evaluations. Equal for equal
  /// settings, seed, interleaving and plan.
  std::uint64_t hash = 0;
  std::uint64_t events = 0;                                                  ///< frames, gradients and timers
  std::uint64_t frames_lost = 0, frames_rejected = 0, frames_duplicated = 0; ///< by injected faults
  std::uint64_t gradients_lost = 0; ///< of workers that died before they sent anything after them
  blame_table blame;
  std::vector<time_use> time_used; ///< by workers, then masters
};

/// Trains with all workers on one thread in virtual time: the same actors and algorithms as in the local world, real
/// gradients, modelled time. Only the settings decide what happens; never the machine's speed or the number of its
/// processors. (Another kind of processor may round gradients differently.)
///
/// @param around its plan is injected; its wrappers of links work as in the local world
/// @error as `run_locally`; and errc::failed when a promise is broken (auditor.hpp) or the run hangs: the error names
///        the workers that wait, and those that they wait for
simulation_result simulate(const std::shared_ptr<const experiment>& e, const simulation_settings& s,
                           const run_surroundings& around = {});

/// Measures this machine's time for one sample of a minibatch: the least of several gradients, in processor time.
double measure_sample_time(const experiment& e);

} // namespace gossamer::actors
