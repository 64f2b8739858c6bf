#pragma once

#include "gossamer/actors/worker/view_change.hpp"
#include "gossamer/topology/overlay.hpp"

namespace gossamer::actors {

struct experiment;

/// Makes the views of a run. A view is a function of the run and of a `view_change`, so equal changes make equal views
/// on all nodes. O(nodes + edges) for each worker that was lost or came since the last view. Samples are dealt when
/// first needed, once for all workers that share the view.
class view_maker {
public:
  /// @param e outlives this object
  explicit view_maker(const experiment& e) : run_(&e) {}

  /// The graph of the workers that are there; with islands, of the first worker of each.
  const topology::graph& graph_of(const view_change& change);
  std::shared_ptr<const view> make(const view_change& change);

private:
  bool bipartite() const;
  void deal_samples(view& v) const;

  const experiment* run_;
  std::optional<topology::overlay> overlay_; // of the last change; made when first needed
};

} // namespace gossamer::actors
