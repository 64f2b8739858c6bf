#pragma once

#include "gossamer/actors/data_plane/access_token.hpp"
#include "gossamer/actors/data_plane/tls/identity.hpp"

#include <optional>

namespace gossamer::actors {

/// The proofs that a process shows to peers, and asks of them, before a connection carries anything else.
struct credentials {
  /// Connections are TLS and both ends show certificates; null: connections are in the clear.
  std::shared_ptr<const tls_identity> identity = nullptr;
  /// Both ends prove that they know the token. Used only without an identity; absent: every peer is heard.
  std::optional<access_token> token = std::nullopt;
};

} // namespace gossamer::actors
