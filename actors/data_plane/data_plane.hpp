#pragma once

#include "gossamer/actors/data_plane/data_plane_setup.hpp"

#include <map>

namespace gossamer::actors {

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
