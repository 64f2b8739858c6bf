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

/// A process of a cluster, as its peers see it.
struct node_address {
  std::uint32_t life = 0; ///< its life: another process in its place has another one
  endpoint where;
  std::vector<rank> ranks; ///< workers and masters on the node
};

struct data_plane_setup {
  std::uint64_t run = 0;         ///< random number of the run, known to its nodes only
  std::uint64_t fingerprint = 0; ///< of the settings that all nodes must agree on
  std::uint32_t node = 0;        ///< this node
  std::uint32_t life = 0;        ///< this node's life
  limits most;
  buffer_pool pool; ///< for arriving payloads
  endpoint listen_on{"0.0.0.0", 0};
  credentials shows = {}; ///< on all connections
  /// Sends bytes between nodes of one machine and one user through shared memory instead of sockets.
  bool share_memory = true;
  /// Called for a node that could not be reached for `patience`, and after each further `patience`: attempts go on, and
  /// frames to the node are kept, as long as `meet` names it. Also called, once, for a node that refuses, was refused,
  /// or broke a rule: frames to it are dropped from then on, until `meet` names its next life. Runs on the thread of
  /// the data plane: it must neither block nor throw.
  std::function<void(std::uint32_t node, std::string why)> complain;
  std::chrono::milliseconds patience{10'000};
  /// At the end, for what is left to send. A node that refuses connections then is over, and is not waited for.
  std::chrono::milliseconds longest_flush = actors::longest_flush;
  /// Runs first on the thread of the data plane; its result is destroyed when the thread ends. May be empty.
  std::function<std::shared_ptr<void>()> on_thread = nullptr;
};

} // namespace gossamer::actors
