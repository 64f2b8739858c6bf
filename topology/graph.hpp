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

/// The largest number of workers of a run.
inline constexpr std::size_t max_workers = 1'000'000;
/// The largest number of edges that a topology has: those of a complete graph of 16,384 workers. With its mixing
/// weights such a graph takes 2 GiB.
inline constexpr std::size_t max_edges = std::size_t{1} << 27;

/// An undirected graph without self loops: its edges join workers that may talk to each other. Immutable; neighbours
/// ascend.
/// Memory: 4 bytes a node and 8 an edge. Threads: safe.
class graph {
public:
  using edge = std::pair<rank, rank>;

  graph() = default;
  /// Each edge once, in either direction; a repeated edge counts once. O(nodes + edges * log(largest degree)).
  /// @error errc::usage on a self loop, an end point out of range or more than `max_edges`
  graph(std::size_t size, std::span<const edge> edges);

  std::size_t size() const noexcept { return first_.empty() ? 0 : first_.size() - 1; }
  std::span<const rank> neighbours(rank i) const { return std::span{neighbours_}.subspan(first_[i], degree(i)); }
  std::size_t degree(rank i) const { return first_[i + 1] - first_[i]; }
  /// Start of i's neighbours in the list of all nodes' neighbours, one node behind the other. For i = size() the length
  /// of that list: twice the edges.
  std::size_t offset(rank i) const { return first_.empty() ? 0 : first_[i]; }
  bool adjacent(rank i, rank j) const;
  std::vector<edge> edges() const; ///< each once, as (smaller, larger), ascending

  bool connected() const;       ///< every node reaches every other; true for at most one node
  bool regular() const;         ///< all degrees are equal
  std::size_t diameter() const; ///< longest shortest path; requires a connected graph; O(nodes * edges)

  friend bool operator==(const graph&, const graph&) = default;

private:
  void drop_repetitions();

  std::vector<std::uint32_t> first_; // start of each node's neighbours, and one entry behind the last
  std::vector<rank> neighbours_;
};

/// Refuses too many edges before they are made.
/// @param what "topology 'complete' of 20000 workers"
/// @error errc::usage when they are more than `max_edges`
void require_edges(std::string_view what, double edges);

struct topology_entry {
  description about;
  graph (*make)(const arguments&, std::size_t size, std::uint64_t seed);
};

/// All topologies. Adding one: its `topology_entry` and one line in registry.cpp.
const registry<topology_entry>& topologies();

/// Returns the graph that a user names, e.g. "random-regular:degree=4"; a function of the three arguments (and, for
/// `file`, of the file). It is connected. One worker is a graph without edges, whatever the topology.
/// @error errc::usage when the topology does not exist for that size or is not connected; names what is allowed
/// @error errc::bad_data, errc::io when its file is wrong or cannot be read; names file and line
[[nodiscard]] graph make_topology(std::string_view text, std::size_t size, std::uint64_t seed,
                                  const registry<topology_entry>& known = topologies());

} // namespace gossamer::topology
