#pragma once

#include "gossamer/actors/data_plane/access_token.hpp"

#include <filesystem>
#include <optional>
#include <string>

namespace gossamer::apps {

/// Keeps the token of a run for other programs of this user, as long as it lives: in a file that nobody else can read,
/// in `tokens` where the state of programs is kept (detached_runs.hpp). What is left by a process that was killed is
/// not found, and removed by the next that looks.
class kept_token {
public:
  kept_token() = default;
  /// @param address HOST:PORT where the run is reached @error errc::io, errc::usage
  kept_token(const std::string& address, const actors::access_token& token);
  kept_token(kept_token&& other) noexcept;
  kept_token& operator=(kept_token&& other) noexcept;
  ~kept_token();

private:
  void remove() const noexcept;

  std::filesystem::path file_;
  int lock_ = -1; ///< held on the file: its process lives
};

/// The token that is kept for that address; of other names for it, the one with the same port.
std::optional<actors::access_token> find_token(const std::string& address);

} // namespace gossamer::apps
