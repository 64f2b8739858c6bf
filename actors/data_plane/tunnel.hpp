#pragma once

#include "gossamer/actors/data_plane/control_guard.hpp"
#include "gossamer/actors/data_plane/credentials.hpp"
#include "gossamer/actors/frames/endpoint.hpp"

#include <chrono>
#include <functional>
#include <string_view>

namespace gossamer::actors {

/// Carries connections of CAF, which trusts all bytes from its sockets. CAF has one end of a pair of local sockets for
/// each connection; the bytes that it writes there come out of such a pair in another process. No pair exists before
/// both sides have shown their credentials, and strangers cost little: at most 64 at once, two seconds or half
/// of `longest` each, and the oldest goes when another comes. No message longer than the bound of a run comes out of
/// a pair. A connection that is reset or silent is made again, and nothing is lost. A pair ends when the other process
/// has, or cannot be reached: for `longest` behind a reset, for a quarter of an hour where it fell silent, since it may
/// have been cut off.
///
/// Threads: safe.
class tunnel {
public:
  /// The reason why a connection that this process opened failed, or ended.
  struct hitch {
    endpoint where;
    std::string why;         ///< worded to follow the name of the peer
    bool is_refused = false; ///< the peer asks for other credentials
    bool is_silence = false; ///< the peer says nothing
  };

  /// The reason where the peer has closed the connection before it said anything.
  static constexpr std::string_view closed_unheard =
      "closes the connection, as a leader that asks for certificates or a token does, or one that may open no more "
      "files";

  static constexpr std::chrono::milliseconds longest_break{2000};

  /// @param longest time for which a process may be out of reach whose connection was reset
  explicit tunnel(const credentials& shown, std::chrono::milliseconds longest = longest_break);
  tunnel(const tunnel&) = delete;
  tunnel& operator=(const tunnel&) = delete;
  /// Waits at most a second for the owners of connections to close them, and for all written bytes to be gone.
  ~tunnel();

  /// Sets the bound on messages of later connections; `most_control_bytes_of_any_run` before the first call.
  void bound_messages(std::uint64_t most_bytes);

  /// Listens; call it once at most. @param in gets the local end of each connection, and closes it; `no_connection`
  /// where this process has no descriptors left for one. Runs on the tunnel's thread
  /// @returns the address with the port that was found @error errc::io if it cannot listen there
  endpoint listen(const endpoint& where, std::function<void(int socket)> in);

  static constexpr int no_connection = -1; ///< of a peer that refuses it, or is gone: ask for the `trouble`
  static constexpr int no_answer = -2;     ///< of a peer that may live

  /// Waits until the peer has accepted what this end has shown: at most five seconds, or `longest` if that is more.
  /// @returns the local end, which the caller closes, or one of the above
  int connect(const endpoint& where);
  /// Nobody waits any more: ends the calls of `connect` that are under way, which return `no_answer`.
  void stop_connecting();

  /// The last hitch that was noted.
  hitch trouble() const;

private:
  class hub;
  std::unique_ptr<hub> hub_;
};

} // namespace gossamer::actors
