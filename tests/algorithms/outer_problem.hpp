#pragma once

#include "gossip_problem.hpp"

/// The runs of DiLoCo and its kin: their size, and what their tests use.
namespace gossamer::testing_support::outer_problem {

using testing_support::quadratics;
using testing_support::runs;
using testing_support::tiny_world;
using testing_support::world_with_master;

inline constexpr std::size_t size = 34, workers = 4;
inline constexpr std::uint64_t period = 5, rounds = 8, steps = period * rounds;
inline constexpr double gamma = 0.1;

} // namespace gossamer::testing_support::outer_problem
