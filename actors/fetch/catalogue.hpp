#pragma once

#include "gossamer/actors/fetch/fetch.hpp"
#include "gossamer/actors/protocol/files.hpp"
#include "gossamer/compute/dataset.hpp"

#include <string>
#include <vector>

namespace gossamer::actors {

/// A file that a peer offers, once its description has been checked.
struct offered_file {
  std::string role;
  std::uint64_t bytes = 0;
  digest whole, root;
};

/// @error errc::bad_packet for an impossible catalogue: too many files, a file that is too large, a role that is too
///        long or there twice, a digest of another length
std::vector<offered_file> checked(const file_catalogue& told);

} // namespace gossamer::actors
