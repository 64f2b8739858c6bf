#include "gossamer/actors/run/view_maker.hpp"

#include "gossamer/actors/run/experiment.hpp"
#include "gossamer/compute/redeal.hpp"

namespace gossamer::actors {

std::shared_ptr<const view> first_view(std::shared_ptr<const topology::mixing_matrix> mixing, std::vector<bool> active,
                                       std::size_t masters) {
  view v;
  for (rank i = 0; i < mixing->size(); ++i)
    v.members.push_back(i);
  v.incarnations.assign(mixing->size() + masters, 0);
  v.mixing = std::move(mixing);
  v.active = std::move(active);
  return std::make_shared<const view>(std::move(v));
}

bool view_maker::bipartite() const { return run_->averages_pairs(); }

const topology::graph& view_maker::graph_of(const view_change& change) {
  if (!overlay_)
    overlay_.emplace(run_->mixing->support(), bipartite() ? topology::repair::bipartite : topology::repair::any);
  std::vector<rank> members;
  for (const auto& [i, life] : change.lives)
    if (!run_->is_master(i))
      members.push_back(i);
  std::vector<bool> present(run_->settings.worker_ranks());
  for (const auto i : run_->islands.heads(members))
    present[i] = true;
  overlay_ = overlay_->among(std::move(present));
  return overlay_->current();
}

/// Deals samples to the members. When a round is repeated at the view's first step, some workers already have their
/// gradients for it. All workers therefore keep the old shards for that step and change them at the next one, so that a
/// step has the shards of one view.
void view_maker::deal_samples(view& v) const {
  const auto& traits = run_->algorithm->traits;
  const auto founders = run_->settings.workers;
  if (v.members.size() != founders || v.members.back() + 1 != founders)
    v.shards = std::make_shared<const compute::redealt_shards>(run_->shards, run_->settings.seed, v.members);
  if (traits.synchronous)
    v.sampled_from = v.first_step + (traits.on_loss == interrupted_round::repeat ? 1 : 0);
}

std::shared_ptr<const view> view_maker::make(const view_change& change) {
  view v;
  v.number = change.number;
  v.first_step = change.first_step;
  v.incarnations.resize(run_->participants());
  for (const auto& [i, life] : change.lives) {
    v.incarnations[i] = life;
    if (!run_->is_master(i))
      v.members.push_back(i);
  }
  v.mixing = std::make_shared<const topology::mixing_matrix>(run_->mixing->along(graph_of(change)));
  v.active.assign(run_->settings.worker_ranks(), true);
  if (bipartite())
    for (const auto i : overlay_->roles().passive)
      v.active[i] = false;
  v.donors = change.donors;
  v.updates_ahead = change.updates_ahead;
  deal_samples(v);
  return std::make_shared<const view>(std::move(v));
}

} // namespace gossamer::actors
