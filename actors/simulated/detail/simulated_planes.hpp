#pragma once

#include "gossamer/actors/protocol/resolution.hpp"
#include "gossamer/actors/simulation/time.hpp"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace gossamer::actors::detail {

/// The data planes of the processes of a simulated run: they decide which processes exchange frames. As in a cluster, a
/// frame is for the life of a node that its sender has met, and leaves as soon as that life has met its sender. The
/// sender's node hears a complaint if the frame has to wait for longer than the patience. Waiting frames are dropped
/// with either process, and when their sender meets another life.
///
/// Threads: one at a time, that of the simulation.
class simulated_planes {
public:
  using node_number = consensus::node_number;
  using whereabouts = std::map<node_number, consensus::process>;

  struct surroundings {
    std::function<virtual_time()> now;
    std::function<void(virtual_time when, std::function<void()> what)> at;
    virtual_time patience{};
    std::function<void(node_number by, node_number about, std::string why)> complain;
  };

  explicit simulated_planes(surroundings around) : around_(std::move(around)) {}

  /// Sets the lives that a process knows from now on, and their addresses; its own life among them.
  void meet(node_number by, whereabouts there);
  /// Drops a node whose process has ended.
  void end(node_number who);
  /// @param leave sends the frame
  void carry(node_number from, node_number to, std::function<void()> leave);

private:
  using way = std::pair<node_number, node_number>;
  struct queue {
    std::uint32_t life = 0; // life of the receiver, as its sender knows it
    virtual_time since{};
    std::vector<std::function<void()>> waiting;
  };

  bool has_met(node_number by, node_number other) const;
  void drop(node_number by);
  void release();
  void complain_in_time(way which, virtual_time since);

  surroundings around_;
  std::map<node_number, whereabouts> known_;
  std::map<way, queue> queues_; // none is empty
};

} // namespace gossamer::actors::detail
