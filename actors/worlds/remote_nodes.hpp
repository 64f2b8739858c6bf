#pragma once

#include "gossamer/actors/runtime/failure_detector.hpp"
#include "gossamer/actors/worlds/rendezvous.hpp"
#include "gossamer/topology/graph.hpp"

#include <caf/actor_addr.hpp>
#include <caf/actor_control_block.hpp>

#include <algorithm>
#include <map>

namespace gossamer::actors {

using topology::rank;

/// Another process of the run.
struct remote_node {
  std::uint32_t number = 1;
  node_interface::handle handle = {}; ///< its end is that of its workers; null: it has not been met yet
  std::vector<rank> ranks = {};
  std::uint32_t life = 0; ///< how often it was started before
  bool lost = false;      ///< silent; or its process is gone, and then it is not met, either

  bool is_met() const { return handle != nullptr; }
};

/// All of them: who has which worker, who says something, and who is silent. Threads: actor-confined.
class remote_nodes {
public:
  remote_nodes(std::vector<remote_node> nodes, failure_detector::time patience)
      : nodes_(std::move(nodes)), heard_(patience) {
    for (std::size_t k = 0; k < nodes_.size(); ++k)
      for (const auto i : nodes_[k].ranks)
        homes_[i] = k;
  }

  const std::vector<remote_node>& all() const noexcept { return nodes_; }
  auto begin() { return nodes_.begin(); }
  auto end() { return nodes_.end(); }

  /// Null: this process has it.
  remote_node* home_of(rank i) {
    const auto found = homes_.find(i);
    return found == homes_.end() ? nullptr : &nodes_[found->second];
  }
  remote_node* numbered(std::uint32_t number) {
    return find([=](const auto& n) { return n.number == number; });
  }
  /// Null: it is none of them, or of a former life.
  remote_node* behind(const caf::actor_addr& handle) {
    return find([&](const auto& n) { return n.is_met() && n.handle.address() == handle; });
  }
  /// Null when it is none of those that are there: what the lost still say is not heard.
  remote_node* speaking(const caf::strong_actor_ptr& sender) {
    return find([&](const auto& n) { return !n.lost && n.is_met() && n.handle == sender; });
  }

  failure_detector& heard() noexcept { return heard_; }

private:
  template <class Condition>
  remote_node* find(Condition is_it) {
    const auto found = std::ranges::find_if(nodes_, is_it);
    return found == nodes_.end() ? nullptr : &*found;
  }

  std::vector<remote_node> nodes_;
  failure_detector heard_;
  std::map<rank, std::size_t> homes_;
};

} // namespace gossamer::actors
