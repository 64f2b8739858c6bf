#pragma once

#include "gossamer/actors/data_plane/tls/identity.hpp"
#include "gossamer/actors/runtime/endpoint.hpp"

#include <functional>

namespace gossamer::actors {

/// Carries connections whose owners know nothing of TLS. They have one end of a pair of local sockets each; what they
/// write there comes out of such a pair in another process. There is no pair before both sides have shown a certificate
/// of the same authority, and strangers cost little: at most 64 at once, two seconds each.
///
/// Threads: safe.
class tls_tunnel {
public:
  explicit tls_tunnel(std::shared_ptr<const tls_identity> identity);
  tls_tunnel(const tls_tunnel&) = delete;
  tls_tunnel& operator=(const tls_tunnel&) = delete;
  /// Waits at most a second for the owners of connections to close them, and for what they have written to be gone.
  ~tls_tunnel();

  /// Once at most. @param in gets the local end of each connection, and closes it. Runs on the tunnel's thread
  /// @returns with the port that was found @error errc::io when it cannot listen there
  endpoint listen(const endpoint& where, std::function<void(int socket)> in);

  /// Waits at most five seconds. The other side may still refuse our certificate, and close the connection.
  /// @returns the local end, which the caller closes; -1 when there is no connection: ask for the `trouble`
  int connect(const endpoint& where);

  /// Why a connection that was opened from here came to nothing, or ended: the last time there was something to say.
  std::string trouble() const;

private:
  class hub;
  std::unique_ptr<hub> hub_;
};

} // namespace gossamer::actors
