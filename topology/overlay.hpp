#pragma once

#include "gossamer/topology/bipartition.hpp"
#include "gossamer/topology/graph.hpp"

#include <vector>

namespace gossamer::topology {

/// Edges that may be added when workers are lost.
enum class repair {
  any,      ///< the edges that close the hole best
  bipartite ///< only between active and passive workers, for AD-PSGD
};

/// A topology whose workers come and go. Numbers are stable; absent workers have no neighbours.
///
/// The present graph is a function of the original graph and of the set of present workers alone, never of the order in
/// which workers left. So workers that agree on the set agree on the graph, and the graph is the original one when all
/// workers are back.
///
/// It consists of the original edges between present workers, and of repairs. A hole is a connected set of absent
/// workers, its rim the present neighbours of the hole. A rim of two becomes an edge: a ring stays a ring. A larger rim
/// that the original edges leave in pieces is joined to a ring in ascending order: the survivors of a star whose hub is
/// lost form a ring. The survivors are always connected.
///
/// With `repair::bipartite` every worker keeps the class that `split` gave it, and edges inside a class are never
/// added. Pieces that then remain apart are linked one by one to the lowest survivor's piece, each time by an edge from
/// the lowest worker that can be linked to the least connected worker of the other class. The lowest survivor changes
/// class only when one class has died out and two workers or more survive. So the survivors are connected here as well,
/// and `roles()` is always a 2-colouring; but a ring may open (neighbours on both sides of a lost worker are in one
/// class).
///
/// Immutable: `without`, `with` and `among` return another overlay; O(nodes + edges) each, in the worst case of a
/// bipartite repair O(pieces * (nodes + edges)). Threads: safe.
class overlay {
public:
  /// Begins with all workers present.
  /// @error errc::usage when the graph is not connected, or not bipartite although the repair is
  explicit overlay(graph original, repair how = repair::any);

  /// Removes or returns a worker. An absent worker may be lost again and a present one come back: nothing changes then.
  /// @error errc::usage when there is no worker of that number
  overlay without(rank lost) const;
  overlay with(rank returned) const;
  /// Returns the overlay of these workers and no others; costs as much as one change.
  /// @param present for each worker
  overlay among(std::vector<bool> present) const;

  bool present(rank i) const { return present_[i]; }
  std::vector<rank> members() const; ///< the present workers, ascending
  const graph& original() const noexcept { return original_; }
  const graph& current() const noexcept { return current_; }

  /// The classes of the present workers. Requires `repair::bipartite`.
  const bipartition& roles() const;

private:
  overlay changed(rank i, bool present) const;
  void rebuild();

  graph original_;
  repair how_;
  std::vector<bool> active_; ///< the classes of the original graph; empty unless bipartite
  std::vector<bool> present_;
  graph current_;
  bipartition roles_;
};

} // namespace gossamer::topology
