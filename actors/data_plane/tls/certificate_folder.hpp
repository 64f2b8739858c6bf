#pragma once

#include "gossamer/actors/data_plane/tls/authority.hpp"

#include <filesystem>
#include <vector>

namespace gossamer::actors {

/// The names of files in folders of certificates.
inline constexpr auto authority_certificate = "authority.crt", authority_key = "authority.key",
                      node_certificate = "node.crt", node_key = "node.key";

struct certificate_order {
  std::filesystem::path folder;
  std::vector<std::string> hosts;
  std::chrono::days days{365};
  bool overwrite = false; ///< replaces pairs that hosts have already; the authority stays in any case
};

struct written_certificates {
  bool new_authority = false;
  std::vector<std::filesystem::path> folders; ///< one for each host, in order, to be copied to it
};

/// Makes the certificates that the nodes of a run show each other. The folder gets an authority, unless it has one, and
/// for each host a folder of its name with `node.crt`, `node.key` and a copy of `authority.crt`. Only the user can read
/// keys. A refused order writes nothing.
/// @error errc::usage for a text that is no host, and for hosts that have a pair already; errc::io; errc::bad_data if
///        half of the authority is missing, or damaged
written_certificates write_certificates(const certificate_order& order);

} // namespace gossamer::actors
