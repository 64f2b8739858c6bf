#pragma once

#include "gossamer/actors/data_plane/access_token.hpp"

#include <filesystem>
#include <optional>
#include <string>

namespace gossamer::apps {

/// Keeps the token of a run for other programs of this user during its lifetime: in a file that no other user can read,
/// in `tokens` of the programs' state folder (detached_runs.hpp). The file of a process that was killed is not used,
/// and the next program that looks removes it.
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
  int lock_ = -1; ///< lock on the file: the process of the token lives
};

/// False for a user without a home: nothing is kept, and nothing is found.
bool may_find_tokens();

/// Returns the token that is kept for that address; if the run has another name for it, the one with the same port.
std::optional<actors::access_token> find_token(const std::string& address);

} // namespace gossamer::apps
