#pragma once

#include "gossamer/actors/evaluation/partial_mean.hpp"
#include "gossamer/actors/evaluation/rank_tree.hpp"
#include "gossamer/actors/frames/transport.hpp"
#include "gossamer/actors/worker/worker_host.hpp"

#include <optional>

namespace gossamer::actors {

// What nodes send each other for evaluations travels as frames do, and is not counted: papers do not count it.

/// From and for whom it is: each node has a rank behind that of the last master.
inline life evaluating_life(std::size_t participants, std::uint32_t node) {
  return {static_cast<rank>(participants + node), 0};
}
/// Which node such a frame comes from; none where it is a worker's or a master's.
inline std::optional<std::uint32_t> node_of(const frame& f, std::size_t participants) {
  return f.source < participants ? std::nullopt : std::optional{static_cast<std::uint32_t>(f.source - participants)};
}

frame to_frame(const snapshot& s, buffer_pool pool);
/// @param dimension of the model, or of the part of it that a master has: at most so much
/// @error errc::bad_packet when it is none
snapshot read_snapshot(const frame& f, std::size_t dimension, buffer_pool pool);

/// How many models are in a part of a mean.
struct head_count {
  std::uint64_t models = 1;
};
inline head_count merge(head_count a, head_count b) { return {a.models + b.models}; }

/// @param job the number of the request that it answers
frame to_frame(const std::map<rank_block, partial_mean>& parts, std::uint64_t job, life from, buffer_pool pool);
/// @param expected which parts they are: the frame does not say it @param dimension of each mean
/// @error errc::bad_packet when they are not these
std::map<rank_block, partial_mean> read_partial_means(const frame& f, const std::map<rank_block, head_count>& expected,
                                                      std::size_t dimension, buffer_pool pool);

} // namespace gossamer::actors
