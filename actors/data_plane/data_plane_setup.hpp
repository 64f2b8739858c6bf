#pragma once

#include "gossamer/actors/data_plane/credentials.hpp"
#include "gossamer/actors/data_plane/limits.hpp"
#include "gossamer/actors/frames/endpoint.hpp"
#include "gossamer/actors/frames/transport.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace gossamer::actors {

/// A process of a cluster, as the others see it.
struct node_address {
  std::uint32_t incarnation = 0; ///< its life: whoever takes its place has another
  endpoint where;
  std::vector<rank> ranks; ///< who lives there
};

struct data_plane_setup {
  std::uint64_t run = 0;         ///< drawn anew for each run, and told to its nodes only
  std::uint64_t fingerprint = 0; ///< of what all nodes must agree on
  std::uint32_t node = 0;        ///< this process
  std::uint32_t incarnation = 0; ///< its life
  limits most;
  buffer_pool pool; ///< where payloads that arrive are put
  endpoint listen_on{"0.0.0.0", 0};
  credentials shows = {}; ///< on all connections
  /// Between nodes of one machine and one user, bytes go through memory that both see instead of through sockets.
  bool share_memory = true;
  /// Called for a node that could not be reached for `patience`, and after each further one: it is tried on, and frames
  /// to it are kept, as long as `meet` names it. Also called, once, for a node that refuses, was refused, or broke a
  /// rule: frames to it are dropped from then on, until `meet` names its next incarnation. Runs on the thread of the
  /// data plane: it must neither block nor throw.
  std::function<void(std::uint32_t node, std::string why)> complain;
  std::chrono::milliseconds patience{10'000};
  /// What the thread of the data plane does first; what it returns ends with the thread. May be empty.
  std::function<std::shared_ptr<void>()> on_thread = nullptr;
};

} // namespace gossamer::actors
