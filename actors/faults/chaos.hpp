#pragma once

#include "gossamer/actors/faults/plan.hpp"

namespace gossamer::actors {

/// What a random plan must leave standing.
struct chaos_limits {
  std::size_t workers = 4;
  std::size_t masters = 0; ///< their ranks are behind those of the workers
  std::size_t workers_per_node = 1;
  double horizon_s = 10; ///< how long the run is, about
  std::size_t spare = 2; ///< so many workers, chosen at random, are never killed
  /// Half of the kills are of processes, and of those that come or leave: each node is one, and each master. Only where
  /// that can be done.
  bool processes = false;
  /// So many of the workers, the last ones, are not there when the run begins. If there are some, workers come and
  /// leave.
  std::size_t comers = 0;
};

/// A random plan: the same for the same seed and limits, on every machine.
///
/// First each kind of fault is switched off with probability 1/2 (never all of them): plans that lack whole kinds find
/// more than plans with a little of everything (Groce et al., "Swarm testing", ISSTA 2012). Then 1 to 8 faults of the
/// remaining kinds begin in the first 70 % of the horizon, in order of time. All but kills, leaves and joins end before
/// 80 % of it; half of the kills and leaves are for ever, the others end by then too. Nobody is killed or leaves who is
/// not there, and nobody joins who is, or will come back; who is gone with its process joins with it, others alone.
/// Durations, rates and sizes are log-uniform, so that mild and wild ones are equally frequent. Workers that are spared
/// do not leave either.
///
/// Where there are masters, one of them dies at once in a quarter of the plans that kill.
///
/// Where processes die, half of these kills strike whoever coordinates. Fewer processes are dead at any time than half
/// of those that vote, one that comes back counting for as long as it takes to get its vote again; a master's comes
/// back if it dies by its name; and besides the `spare` workers as many are not killed by their names as may die by the
/// vote that they have.
///
/// Kinds that the limits leave no room for do not occur: kills with no more workers than `spare`, and faults of links
/// with a single worker.
/// @error errc::usage unless there is a worker in a node, a worker when the run begins, and a positive finite horizon
fault_plan draw_plan(std::uint64_t seed, const chaos_limits& limits);

} // namespace gossamer::actors
