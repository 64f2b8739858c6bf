#pragma once

#include "gossamer/actors/faults/plan.hpp"

namespace gossamer::actors {

/// Limits of a random plan.
struct chaos_limits {
  std::size_t workers = 4;
  std::size_t masters = 0; ///< their ranks follow those of the workers
  std::size_t workers_per_node = 1;
  double horizon_s = 10; ///< approximate duration of the run
  std::size_t spare = 2; ///< number of workers, chosen at random, that are never killed
  /// Half of the kills, joins and leaves strike processes, where that is possible. Each node is a process, and each
  /// master.
  bool processes = false;
  /// Number of workers, the last ones, that are absent when the run begins. If it is not 0, workers join and leave.
  std::size_t comers = 0;
};

/// Draws a plan at random: the same for the same seed and limits, on every machine.
///
/// First each kind of fault is switched off with probability 1/2 (never all of them): plans that lack whole kinds find
/// more than plans with a little of everything (Groce et al., "Swarm testing", ISSTA 2012). Then 1 to 8 faults of the
/// remaining kinds begin in the first 70 % of the horizon, in order of time. All but kills, leaves and joins end before
/// 80 % of it; half of the kills and leaves are for ever, the others end by then too. Only workers that are there are
/// killed or leave, and only workers that are away for ever join; a worker that is gone with its process joins with it,
/// others alone. Durations, rates and sizes are log-uniform, so that mild and wild ones are equally frequent. Spared
/// workers do not leave either.
///
/// If there are masters, one of them dies at once in a quarter of the plans that kill.
///
/// If processes die, half of these kills strike the leader. None dies or leaves unless then fewer than half of the
/// voting processes are dead, gone or on the smaller side of a partition. A process that comes back, or is heard again,
/// counts as dead until it has had time to get its vote again, for which it needs a worker. Where there are masters,
/// leaders come back, and so do masters that are killed by name. So many nodes are not killed by name, nor are their
/// workers, that `spare` workers are left when the largest number of leaders is dead; where workers are on too few
/// nodes for that, no leader is killed.
///
/// Kinds without room within the limits do not occur: kills with no more workers than `spare`, and faults of links with
/// a single worker.
/// @error errc::usage unless there is a worker in a node, a worker when the run begins, and a positive finite horizon
fault_plan draw_plan(std::uint64_t seed, const chaos_limits& limits);

} // namespace gossamer::actors
