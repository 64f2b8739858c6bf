#pragma once

#include "gossamer/actors/data_plane/access_token.hpp"
#include "gossamer/actors/data_plane/tls/identity.hpp"

#include <optional>

namespace gossamer::actors {

/// What a process shows to others, and asks of them, before a connection carries anything else.
struct credentials {
  /// Connections are TLS, and both ends show certificates; null: in the clear.
  std::shared_ptr<const tls_identity> identity = nullptr;
  /// Both ends prove that they know it. It counts without an identity only; nothing: whoever comes is heard.
  std::optional<access_token> token = std::nullopt;
};

} // namespace gossamer::actors
