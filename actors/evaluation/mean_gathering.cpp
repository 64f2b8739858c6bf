#include "gossamer/actors/evaluation/mean_gathering.hpp"

#include "gossamer/actors/evaluation/evaluation_frames.hpp"
#include "gossamer/base/error.hpp"

#include <fmt/format.h>

namespace gossamer::actors {

void mean_gathering::begin(mean_job job) {
  number_ = job.number;
  std::set<std::uint32_t> nodes;
  for (const auto i : job.everybody)
    nodes.insert(here_.homes.at(i));
  nodes_.emplace(nodes, job.root);
  missing_ = nodes_->children(here_.node);
  if (evaluation_ != job.evaluation)
    merge_own(job);
  everybody_ = std::move(job.everybody);
  merged_.emplace(everybody_).add(own_);

  auto early = std::exchange(early_, {});
  for (auto& [_, f] : early)
    add(f);
}

void mean_gathering::merge_own(mean_job& job) {
  evaluation_.reset();
  std::vector<rank> asked;
  std::ranges::copy_if(job.everybody, std::back_inserter(asked),
                       [this](rank i) { return here_.homes[i] == here_.node; });
  if (!std::ranges::equal(job.models, asked, {}, &owned_model::who))
    throw error(errc::failed, fmt::format("node {} is asked for models that it does not have", here_.node), "");
  rank_tree<partial_mean> own{job.everybody};
  for (auto& one : job.models)
    own.add({0, one.who}, {std::move(one.model)});
  own_ = own.parts();
  evaluation_ = job.evaluation;
}

void mean_gathering::add(const frame& f) {
  const auto from = node_of(f, here_.homes.size());
  if (f.label.kind != frame_kind::partial_means || !from || *from == here_.node)
    return complain_(f, "it is no part of an evaluation");
  if (f.label.step == number_)
    return accept(f, *from);
  if (f.label.step < number_)
    return; // all have begun anew
  auto& early = early_.try_emplace(*from, f).first->second;
  if (early.label.step < f.label.step)
    early = f;
}

void mean_gathering::accept(const frame& f, std::uint32_t from) {
  if (!missing_.contains(from))
    return complain_(f, "its part of an evaluation is not awaited");
  rank_tree<head_count> theirs{everybody_};
  for (const auto i : everybody_)
    if (nodes_->is_within(here_.homes[i], from))
      theirs.add({0, i}, {});
  try {
    merged_->add(read_partial_means(f, theirs.parts(), here_.dimension, here_.pool));
    missing_.erase(from);
  } catch (const error& problem) {
    complain_(f, problem.sentence());
  }
}

std::optional<std::map<rank_block, partial_mean>> mean_gathering::take() {
  if (!merged_ || !missing_.empty() || merged_->parts().empty())
    return std::nullopt;
  auto result = merged_->parts();
  merged_.reset();
  return result;
}

} // namespace gossamer::actors
