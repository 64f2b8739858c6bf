#pragma once

#include "gossamer/actors/evaluation/partial_mean.hpp"
#include "gossamer/actors/evaluation/rank_tree.hpp"
#include "gossamer/actors/frames/transport.hpp"
#include "gossamer/actors/worker/worker_host.hpp"

#include <optional>

namespace gossamer::actors {

// Data for evaluations travels between nodes as frames do, and is not counted: papers do not count it.

/// The sender or receiver of such a frame: each node has a rank behind that of the last master.
inline life evaluating_life(std::size_t participants, std::uint32_t node) {
  return {static_cast<rank>(participants + node), 0};
}
/// Returns the node that sent such a frame; `nullopt` for a frame of a worker or a master.
inline std::optional<std::uint32_t> node_of(const frame& f, std::size_t participants) {
  return f.source < participants ? std::nullopt : std::optional{static_cast<std::uint32_t>(f.source - participants)};
}

/// What a peer counts is less: sums of two do not overflow.
inline constexpr std::uint64_t most_counted = std::uint64_t{1} << 62;

frame to_frame(const snapshot& s, buffer_pool pool);
/// @param size of the master's part of the model
/// @error errc::bad_packet when the frame is no snapshot of that size, or counts further than anybody can
snapshot read_snapshot(const frame& f, std::size_t size, buffer_pool pool);

/// Number of models in a part of a mean.
struct head_count {
  std::uint64_t models = 1;
};
inline head_count merge(head_count a, head_count b) { return {a.models + b.models}; }

/// @param job the number of the request that it answers
frame to_frame(const std::map<rank_block, partial_mean>& parts, std::uint64_t job, life from, buffer_pool pool);
/// @param expected the parts that must come: the frame does not name them @param dimension of each mean
/// @error errc::bad_packet when the frame does not contain these, or no models have such a mean and spread
std::map<rank_block, partial_mean> read_partial_means(const frame& f, const std::map<rank_block, head_count>& expected,
                                                      std::size_t dimension, buffer_pool pool);

} // namespace gossamer::actors
