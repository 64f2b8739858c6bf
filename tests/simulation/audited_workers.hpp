#pragma once

#include "gossamer/actors/simulation/auditor.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gossamer::testing_support {

using lives = std::vector<std::optional<std::uint32_t>>;
using edges = std::vector<topology::graph::edge>;

constexpr auto nothing = std::nullopt;

inline actors::view view_on(const edges& e, lives incarnations, std::uint32_t number = 1,
                            std::uint64_t first_step = 0) {
  actors::view v;
  v.number = number;
  v.first_step = first_step;
  for (actors::rank i = 0; i < incarnations.size(); ++i)
    if (incarnations[i])
      v.members.push_back(i);
  v.mixing = std::make_shared<const topology::mixing_matrix>(
      topology::mixing_matrix::metropolis(topology::graph{incarnations.size(), e}));
  v.active.assign(incarnations.size(), true);
  v.incarnations = std::move(incarnations);
  return v;
}

inline const edges triangle{{0, 1}, {1, 2}, {2, 0}};

/// An auditor of three workers.
struct audited_workers {
  explicit audited_workers(
      bool bipartite = false, actors::auditor::step_limit beside = [](std::uint64_t t) { return t + 1; })
      : check(3, bipartite, std::move(beside)) {
    for (actors::rank i = 0; i < 3; ++i)
      check.begins(i, 0);
  }
  void deliver(actors::rank to, actors::rank from, std::uint32_t sequence, std::uint32_t incarnation = 0) {
    check.delivered(to, {.source = from,
                         .incarnation = incarnation,
                         .sequence = sequence,
                         .label = {actors::frame_kind::model, 7},
                         .body = {}});
  }
  vec filled(std::vector<float> values) { return vec{pool, values}; }
  void restart(actors::rank who, std::uint32_t incarnation) {
    check.ends(who, incarnation - 1);
    check.begins(who, incarnation);
  }
  bool kept() const { return !check.broken(); }
  std::string broken() const { return check.broken().value_or("nothing is broken"); }

  buffer_pool pool;
  actors::auditor check;
};

} // namespace gossamer::testing_support
