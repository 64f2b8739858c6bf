#pragma once

#include "gossamer/actors/worker/view_change.hpp"
#include "gossamer/topology/overlay.hpp"

namespace gossamer::actors {

struct experiment;

/// Makes the views of a run. A view is a function of the run and of a `view_change`, so whoever is told the same change
/// makes the same view. O(nodes + edges) for each worker that was lost or came since the last one. Samples are dealt
/// when somebody asks for them, once for all who share the view.
class view_maker {
public:
  /// @param e outlives this object
  explicit view_maker(const experiment& e) : run_(&e) {}

  /// Who talks to whom when these are there.
  const topology::graph& graph_of(const view_change& change);
  std::shared_ptr<const view> make(const view_change& change);

private:
  bool bipartite() const;
  void deal_samples(view& v) const;

  const experiment* run_;
  std::optional<topology::overlay> overlay_; // of the last change; made when first needed
};

} // namespace gossamer::actors
