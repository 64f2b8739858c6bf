#pragma once

#include "gossamer/actors/data_plane/tunnel.hpp"

#include <caf/io/all.hpp>

namespace gossamer::actors {

/// CAF's middleman, with connections that go through a tunnel. CAF's own sockets believe the length in a header of any
/// sender. Its module for OpenSSL accepts every certificate of an authority, whatever host it is for; and in 0.17.6 a
/// stranger that connects and says nothing keeps its thread busy, and prevents its end.
class tunnel_middleman {
public:
  /// @param through outlives the actor system
  tunnel_middleman(caf::actor_system& system, tunnel& through);
  tunnel_middleman(const tunnel_middleman&) = delete;
  tunnel_middleman& operator=(const tunnel_middleman&) = delete;
  /// Leaves connections open.
  ~tunnel_middleman();

  /// @returns `where` with the port that was found @error errc::io
  endpoint publish(const caf::actor& door, const endpoint& where);

  /// Takes `connect_atom`.
  const caf::io::middleman_actor& handle() const noexcept { return actor_; }

private:
  caf::actor_system& system_;
  tunnel& tunnel_;
  std::shared_ptr<const int> entrance_; ///< hands connections to CAF
  int exit_ = -1;                       ///< CAF's end of that, once a door is published
  bool published_ = false;
  caf::io::middleman_actor actor_;
};

} // namespace gossamer::actors
