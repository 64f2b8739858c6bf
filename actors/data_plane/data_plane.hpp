#pragma once

#include "gossamer/actors/data_plane/credentials.hpp"
#include "gossamer/actors/data_plane/limits.hpp"
#include "gossamer/actors/runtime/endpoint.hpp"
#include "gossamer/actors/runtime/transport.hpp"

#include <map>
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

/// Carries frames between the processes of a cluster, over one TCP connection for each pair of them, which all workers
/// of both share. A connection is opened by the first who has something to send, and opened again when it breaks:
/// frames are neither lost nor repeated, and those of one pair of workers stay in order (see `session`). Frames
/// between workers of this process are handed over as they are. Without credentials it guards against damage
/// and mistakes only; with a token, against strangers too; with an identity, also against a hostile network.
///
/// Threads: safe. Sinks of frames from other nodes are called on the thread of the data plane; those of frames from
/// this process on the sender's.
class data_plane final : public transport {
public:
  /// Listens from now on, and refuses everybody until `meet`.
  /// @error errc::io when it cannot listen there: the port is in use, or the address is not of this machine
  explicit data_plane(data_plane_setup setup);
  ~data_plane() override; ///< closes
  /// Waits at most a second for what has been sent to arrive, then closes all connections, and ends the thread. Links
  /// may live longer: what is sent over them is dropped. Not to be called on the thread of the data plane.
  void close();

  /// With the port that was found.
  endpoint listens_on() const;

  /// Who is where from now on, this node included; to be called again whenever that changes, and before links are
  /// made. Sessions with nodes, or incarnations of nodes, that are not named end silently. All nodes have to know a
  /// worker's place before it sends.
  void meet(std::map<std::uint32_t, node_address> nodes);

  /// Frames of other nodes that came before have waited, within `limits`.
  void attach(life who, frame_sink sink) override;
  /// @error `send` throws errc::failed when a frame is larger than `limits` allow
  std::unique_ptr<link> link_to(rank from, life to) override;

  /// For tests: resets all connections, as a network does.
  void break_connections();

private:
  class hub;
  std::unique_ptr<hub> hub_;
};

} // namespace gossamer::actors
