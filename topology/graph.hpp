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

/// The largest number of workers of a run; a complete graph of so many still fits into memory.
inline constexpr std::size_t max_workers = 16'384;

/// An undirected graph without self loops: who may talk to whom. Immutable; neighbours ascend.
/// Threads: safe.
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

  bool connected() const;       ///< every node reaches every other; true for at most one node
  bool regular() const;         ///< all degrees are equal
  std::size_t diameter() const; ///< longest shortest path; requires a connected graph; O(nodes * edges)

  friend bool operator==(const graph&, const graph&) = default;

private:
  std::vector<std::vector<rank>> neighbours_;
};

struct topology_entry {
  description about;
  graph (*make)(const arguments&, std::size_t size, std::uint64_t seed);
};

/// All topologies. Adding one: its `topology_entry` and one line in registry.cpp.
const registry<topology_entry>& topologies();

/// The graph that a user names, e.g. "random-regular:degree=4"; a function of the three arguments
/// (and, for `file`, of the file). It is connected. One worker is a graph without edges, whatever
/// the topology.
/// @error errc::usage when the topology does not exist for that size or is not connected; names
/// what is allowed
/// @error errc::bad_data, errc::io when its file is wrong or cannot be read; names file and line
graph make_topology(std::string_view text, std::size_t size, std::uint64_t seed);

} // namespace gossamer::topology
