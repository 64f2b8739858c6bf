#pragma once

#include "gossamer/actors/agreement/delegate.hpp"
#include "gossamer/actors/node/rendezvous.hpp"

#include <caf/actor_addr.hpp>
#include <caf/actor_control_block.hpp>

#include <algorithm>
#include <map>

namespace gossamer::actors {

using topology::rank;

/// The way to another process of the run. Its life and its health are in `consensus::seats`.
struct remote_node {
  consensus::node_number number = 1;
  std::vector<rank> ranks = {};
  /// The actor of the life that has the seat; its end is that of its workers. Null: this process has not met it yet.
  node_interface::handle handle = {};

  bool is_met() const { return handle != nullptr; }
};

/// All other nodes: their workers, and their handles. Threads: actor-confined.
class remote_nodes {
public:
  remote_nodes(const consensus::charter& rules, consensus::node_number self) {
    for (consensus::node_number n = 0; n < rules.nodes; ++n)
      if (n != self)
        nodes_.push_back({.number = n});
    for (rank i = 0; i < rules.homes.size(); ++i)
      if (auto* home = numbered(rules.homes[i])) {
        home->ranks.push_back(i);
        homes_[i] = static_cast<std::size_t>(home - nodes_.data());
      }
  }

  auto begin() { return nodes_.begin(); }
  auto end() { return nodes_.end(); }

  /// Returns the node that hosts rank `i`; null if this process does.
  remote_node* home_of(rank i) {
    const auto found = homes_.find(i);
    return found == homes_.end() ? nullptr : &nodes_[found->second];
  }
  /// Null if it is this process, or if there is no such node.
  remote_node* numbered(consensus::node_number number) {
    return find([=](const auto& n) { return n.number == number; });
  }
  /// Null if the handle is of none of them, or of a former life.
  remote_node* behind(const caf::actor_addr& handle) {
    return find([&](const auto& n) { return n.is_met() && n.handle.address() == handle; });
  }

private:
  template <class Condition>
  remote_node* find(Condition is_it) {
    const auto found = std::ranges::find_if(nodes_, is_it);
    return found == nodes_.end() ? nullptr : &*found;
  }

  std::vector<remote_node> nodes_;
  std::map<rank, std::size_t> homes_;
};

} // namespace gossamer::actors
