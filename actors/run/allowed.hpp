#pragma once

#include "gossamer/base/setting.hpp"
#include "gossamer/topology/graph.hpp"

#include <cstdint>
#include <limits>

namespace gossamer::actors {

/// Allowed values of a run's numbers.
namespace allowed {
inline constexpr interval<std::size_t> workers{1, topology::max_workers};
inline constexpr interval<std::size_t> batch{1, 1'000'000};
inline constexpr interval<double> lr{1e-12, 1e6};
inline constexpr interval<double> epochs{1e-6, 1e9};
inline constexpr interval<std::uint64_t> steps{1, 1'000'000'000'000};
inline constexpr interval<double> seconds{1e-3, 1e9};
inline constexpr interval<double> eval_every{1e-9, 1e9};
inline constexpr interval<std::size_t> threads{0, 1024};
inline constexpr interval<std::uint64_t> under_way{1, 1'000'000'000'000'000};
inline constexpr interval<double> slow{1, 1e6};
/// The non-negative integers of TOML.
inline constexpr interval<std::uint64_t> seed{0, std::numeric_limits<std::int64_t>::max()};
} // namespace allowed

} // namespace gossamer::actors
