#pragma once

#include "gossamer/base/registry.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace gossamer::topology {

/// A worker's number, 0 .. workers - 1.
using rank = std::uint32_t;

/// An undirected graph without self loops: who may talk to whom. Immutable; neighbours ascend. Threads: safe.
class graph {
public:
  using edge = std::pair<rank, rank>;

  graph() = default;
  /// Each edge once, in either direction; a repeated edge counts once.
  /// @error errc::usage on a self loop or an end point out of range
  graph(std::size_t size, std::span<const edge> edges);

  std::size_t size() const noexcept { return neighbours_.size(); }
  std::span<const rank> neighbours(rank i) const { return neighbours_[i]; }
  std::size_t degree(rank i) const { return neighbours_[i].size(); }
  bool adjacent(rank i, rank j) const;
  std::vector<edge> edges() const; ///< each once, as (smaller, larger), ascending

  bool connected() const; ///< among the nodes that are present
  bool regular() const;
  std::size_t diameter() const; ///< longest shortest path; requires a connected graph

  friend bool operator==(const graph&, const graph&) = default;

private:
  std::vector<std::vector<rank>> neighbours_;
};

/// A 2-colouring: no edge inside a class. In AD-PSGD active workers start exchanges and passive ones answer.
struct bipartition {
  std::vector<rank> active;  ///< odd distance from node 0 (a single node is active)
  std::vector<rank> passive;
};

struct topology_entry {
  description about;
  graph (*make)(const arguments&, std::size_t size, std::uint64_t seed);
};

/// All topologies. Adding one: its `topology_entry` and one line in registry.cpp.
const registry<topology_entry>& topologies();

/// The graph that a user names, e.g. "random-regular:degree=4".
/// @error errc::usage when the topology does not exist for that size, is not connected, or its file is wrong
graph make_topology(std::string_view text, std::size_t size, std::uint64_t seed);

} // namespace gossamer::topology
