#pragma once

#include "gossamer/actors/evaluation/kept_models.hpp"
#include "gossamer/actors/evaluation/node_tree.hpp"
#include "gossamer/actors/evaluation/partial_mean.hpp"
#include "gossamer/actors/evaluation/rank_tree.hpp"
#include "gossamer/actors/frames/frame.hpp"

#include <functional>
#include <optional>
#include <set>
#include <string>

namespace gossamer::actors {

/// The number of this node, and what all nodes know.
struct mean_place {
  std::uint32_t node = 0;
  std::vector<std::uint32_t> homes; ///< node where the model of each rank is put aside
  std::size_t dimension = 0;        ///< size of each model
  buffer_pool pool;
};

/// One node's part in forming the mean of models that are on many nodes. It merges the models of its own workers
/// (`rank_tree`), waits for the parts of the nodes below it (`node_tree`), and has parts for the node above; the root
/// has the mean. Every node sends one model where ranks are dealt out in equal powers of two, and at most 2 log2 n
/// otherwise; none gets more than its children send.
///
/// No node waits for a dead one: the leader asks again, under another number, and all begin anew from the models of
/// their own workers, which are kept merged until the next evaluation. Frames for an outdated number are dropped; one
/// frame of each node that comes before its request is kept.
///
/// Frames are not trusted: the job determines the parts that belong into them. Threads: as a value.
class mean_gathering {
public:
  /// Called for a frame that its sender may not send; the complaint costs the sender.
  using complaint = std::function<void(const frame& f, const std::string& why)>;

  mean_gathering(mean_place where, complaint complain) : here_(std::move(where)), complain_(std::move(complain)) {}

  /// @error errc::failed when models that should be here are missing
  void begin(mean_job job);
  void add(const frame& f);

  /// Number of the job that is under way; 0: none.
  std::uint64_t number() const noexcept { return number_; }
  /// Returns all parts once, when they are there. The root has one, the mean of all; a node without a model has none.
  std::optional<std::map<rank_block, partial_mean>> take();
  bool is_root() const { return nodes_->root() == here_.node; }
  /// Returns the node that gets the parts. Not for the root.
  std::uint32_t above() const { return nodes_->above(here_.node); }

private:
  void merge_own(mean_job& job);
  void accept(const frame& f, std::uint32_t from);

  mean_place here_;
  complaint complain_;
  std::optional<std::uint64_t> evaluation_; // the one that `own_` belongs to
  std::map<rank_block, partial_mean> own_;

  std::uint64_t number_ = 0;
  std::vector<rank> everybody_;
  std::optional<node_tree> nodes_;
  std::optional<rank_tree<partial_mean>> merged_; // until it has been taken
  std::set<std::uint32_t> missing_;               // nodes
  std::map<std::uint32_t, frame> early_;          // by node
};

} // namespace gossamer::actors
