#pragma once

#include "gossamer/actors/data_plane/data_plane_setup.hpp"

#include <map>

namespace gossamer::actors {

/// Carries frames between the processes of a cluster, over one TCP connection for each pair of them, which all workers
/// of both share. The first node with something to send opens the connection, and opens it again when it breaks: frames
/// are neither lost nor repeated, and those of one pair of workers stay in order (see `session`). Frames between
/// workers of this process are handed over uncopied. Without credentials it guards against damage and mistakes only;
/// with a token, against strangers too; with an identity, also against a hostile network.
///
/// Threads: safe. Sinks of frames from other nodes are called on the thread of the data plane; sinks of frames from
/// this process on the sender's.
class data_plane final : public transport {
public:
  /// Listens from now on, and refuses all peers until `meet`.
  /// @error errc::io if it cannot listen there: the port is in use, or the address is not of this machine
  explicit data_plane(data_plane_setup setup);
  ~data_plane() override; ///< closes
  /// Waits at most a second for sent frames to arrive, then closes all connections and ends the thread. Links may
  /// outlive the data plane: frames sent over them are dropped. Not to be called on the thread of the data plane.
  void close();

  /// The address with the port that was found.
  endpoint listens_on() const;

  /// Sets all nodes and their ranks, this node included. Call it again whenever they change, and before links are made.
  /// Sessions with nodes, or lives of nodes, that are not named end silently. All nodes have to know a worker's place
  /// before it sends.
  void meet(std::map<std::uint32_t, node_address> nodes);

  /// Attaches a sink. Frames of other nodes that came before have waited, within `limits`.
  void attach(life who, frame_sink sink) override;
  /// @error `send` throws errc::failed for a frame larger than `limits` allow
  std::unique_ptr<link> link_to(rank from, life to) override;

  /// Resets all connections, as a network does; for tests.
  void break_connections();

private:
  class hub;
  std::unique_ptr<hub> hub_;
};

} // namespace gossamer::actors
