#pragma once

#include "gossamer/actors/data_plane/tunnel.hpp"

#include <caf/io/all.hpp>

namespace gossamer::actors {

/// CAF's middleman, but that its connections go through a tunnel. CAF's own sockets believe the length in a header,
/// whoever has sent it. It has a module for OpenSSL, which believes every certificate of an authority, whatever host it
/// is for; and in 0.17.6 a stranger who connects and says nothing keeps its thread busy, and its end from coming.
class tunnel_middleman {
public:
  /// @param through outlives the actor system
  tunnel_middleman(caf::actor_system& system, tunnel& through);
  tunnel_middleman(const tunnel_middleman&) = delete;
  tunnel_middleman& operator=(const tunnel_middleman&) = delete;
  /// Connections stay.
  ~tunnel_middleman();

  /// @returns with the port that was found @error errc::io
  endpoint publish(const caf::actor& door, const endpoint& where);

  /// For `connect_atom`.
  const caf::io::middleman_actor& handle() const noexcept { return actor_; }

private:
  caf::actor_system& system_;
  tunnel& tunnel_;
  std::shared_ptr<const int> entrance_; ///< by which connections are handed to CAF
  int exit_ = -1;                       ///< likewise; CAF's, once it is published
  bool published_ = false;
  caf::io::middleman_actor actor_;
};

} // namespace gossamer::actors
