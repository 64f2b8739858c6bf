#pragma once

#include "gossamer/actors/data_plane/tls/tunnel.hpp"

#include <caf/io/all.hpp>

namespace gossamer::actors {

/// CAF's middleman, but that its connections go through a tunnel. CAF has a module for OpenSSL, which believes every
/// certificate of an authority, whatever host it is for; and in 0.17.6 a stranger who connects and says nothing keeps
/// its thread busy, and its end from coming.
class tls_middleman {
public:
  /// @param through outlives the actor system
  tls_middleman(caf::actor_system& system, tls_tunnel& through);
  tls_middleman(const tls_middleman&) = delete;
  tls_middleman& operator=(const tls_middleman&) = delete;
  /// Connections stay.
  ~tls_middleman();

  /// @returns with the port that was found @error errc::io
  endpoint publish(const caf::actor& door, const endpoint& where);

  /// For `connect_atom`.
  const caf::io::middleman_actor& handle() const noexcept { return actor_; }

private:
  caf::actor_system& system_;
  tls_tunnel& tunnel_;
  std::shared_ptr<const int> entrance_; ///< by which connections are handed to CAF
  int exit_ = -1;                       ///< likewise; CAF's, once it is published
  bool published_ = false;
  caf::io::middleman_actor actor_;
};

} // namespace gossamer::actors
