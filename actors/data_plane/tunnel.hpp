#pragma once

#include "gossamer/actors/data_plane/control_guard.hpp"
#include "gossamer/actors/data_plane/credentials.hpp"
#include "gossamer/actors/frames/endpoint.hpp"

#include <functional>

namespace gossamer::actors {

/// Carries connections of CAF, which believes whatever comes out of its sockets. It has one end of a pair of local
/// sockets for each; what it writes there comes out of such a pair in another process. There is no pair before both
/// sides have shown their credentials, and strangers cost little: at most 64 at once, two seconds each. No message
/// comes out of one that is longer than a run has them.
///
/// Threads: safe.
class tunnel {
public:
  /// Why a connection that was opened from here came to nothing, or ended.
  struct hitch {
    endpoint where;
    std::string why;         ///< to stand behind the name of the other side
    bool is_refused = false; ///< it asks for other credentials
  };

  explicit tunnel(const credentials& shown);
  tunnel(const tunnel&) = delete;
  tunnel& operator=(const tunnel&) = delete;
  /// Waits at most a second for the owners of connections to close them, and for what they have written to be gone.
  ~tunnel();

  /// From now on connections begin with this bound for messages; `most_control_bytes_of_any_run` before.
  void bound_messages(std::uint64_t most_bytes);

  /// Once at most. @param in gets the local end of each connection, and closes it. Runs on the tunnel's thread
  /// @returns with the port that was found @error errc::io when it cannot listen there
  endpoint listen(const endpoint& where, std::function<void(int socket)> in);

  /// Waits at most five seconds. With certificates the other side may still refuse ours, and close the connection.
  /// @returns the local end, which the caller closes; -1 when there is no connection: ask for the `trouble`
  int connect(const endpoint& where);

  /// The last time there was something to say.
  hitch trouble() const;

private:
  class hub;
  std::unique_ptr<hub> hub_;
};

} // namespace gossamer::actors
