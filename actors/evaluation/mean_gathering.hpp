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

/// Which node this is, and what all of them know.
struct mean_place {
  std::uint32_t node = 0;
  std::vector<std::uint32_t> homes; ///< where the model of each rank is put aside
  std::size_t dimension = 0;        ///< of the models
  buffer_pool pool;
};

/// One node's part in forming the mean of models that are on many: it merges those of its own workers (`rank_tree`),
/// waits for what the nodes below it (`node_tree`) have made of theirs, and has something for the node above, or at
/// the root the mean. Every node sends one model, where ranks are dealt out in equal powers of two, and at most
/// 2 log2 n else; none gets more than its children send.
///
/// Nobody waits for the dead: the leader asks again, under another number, and all begin anew from the models of
/// their own workers, which are kept merged until the next evaluation. Frames for what nobody asks any more are
/// dropped; of each node, one that came before its request is kept.
///
/// What comes in frames is not trusted: which parts belong there follows from the job. Threads: as a value.
class mean_gathering {
public:
  /// This frame is none that its sender may send, and costs the sender.
  using complaint = std::function<void(const frame& f, const std::string& why)>;

  mean_gathering(mean_place where, complaint complain) : here_(std::move(where)), complain_(std::move(complain)) {}

  /// @error errc::failed when models are not here that should be
  void begin(mean_job job);
  void add(const frame& f);

  /// The one whose job is under way; 0: none.
  std::uint64_t number() const noexcept { return number_; }
  /// All parts, once: when they are there. Of the root that is one, the mean of all; of a node without a model, never.
  std::optional<std::map<rank_block, partial_mean>> take();
  bool is_root() const { return nodes_->root() == here_.node; }
  /// Who gets them. Requires another node than the root.
  std::uint32_t above() const { return nodes_->above(here_.node); }

private:
  void merge_own(mean_job& job);
  void accept(const frame& f, std::uint32_t from);

  mean_place here_;
  complaint complain_;
  std::optional<std::uint64_t> evaluation_; // of which these are the own parts:
  std::map<rank_block, partial_mean> own_;

  std::uint64_t number_ = 0;
  std::vector<rank> everybody_;
  std::optional<node_tree> nodes_;
  std::optional<rank_tree<partial_mean>> merged_; // until it has been taken
  std::set<std::uint32_t> missing_;               // nodes
  std::map<std::uint32_t, frame> early_;          // by node
};

} // namespace gossamer::actors
