#pragma once

#include "gossamer/actors/fetch/fetch.hpp"
#include "gossamer/actors/protocol/files.hpp"
#include "gossamer/compute/dataset.hpp"

#include <string>
#include <vector>

namespace gossamer::actors {

/// A file that somebody says there is, once that can be.
struct offered_file {
  std::string role;
  std::uint64_t bytes = 0;
  digest whole, root;
};

/// @error errc::bad_packet for what cannot be: too many files, one that is too large, a role that is too long or there
///        twice, a digest of another length
std::vector<offered_file> checked(const file_catalogue& told);

} // namespace gossamer::actors
