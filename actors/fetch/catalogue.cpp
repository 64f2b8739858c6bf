#include "gossamer/actors/fetch/catalogue.hpp"

#include "gossamer/base/error.hpp"
#include "gossamer/base/file.hpp"

#include <fmt/format.h>

namespace gossamer::actors {

namespace {

constexpr std::size_t most_files = 1024, most_role_bytes = 256;

[[noreturn]] void refuse(const std::string& why) {
  throw error(errc::bad_packet, "what is said to be the files of the data cannot be: " + why,
              "use the same version of the program on all nodes");
}

offered_file checked(const shared_file& told) {
  if (told.role.empty() || told.role.size() > most_role_bytes)
    refuse(fmt::format("the name of a file has {} bytes; allowed: 1 to {}", told.role.size(), most_role_bytes));
  if (told.bytes > most_file_bytes)
    refuse(fmt::format("'{}' has {} bytes; allowed: up to {}", told.role, told.bytes, byte_count(most_file_bytes)));
  const auto whole = digest::from(told.whole), root = digest::from(told.root);
  if (!whole || !root)
    refuse(fmt::format("a digest of '{}' is none: it has not {} bytes", told.role, digest::size));
  return {told.role, told.bytes, *whole, *root};
}

} // namespace

std::vector<offered_file> checked(const file_catalogue& told) {
  if (told.files.size() > most_files)
    refuse(fmt::format("there are {}; allowed: up to {}", told.files.size(), most_files));
  std::set<std::string> roles;
  std::vector<offered_file> result;
  for (const auto& one : told.files) {
    result.push_back(checked(one));
    if (!roles.insert(one.role).second)
      refuse(fmt::format("'{}' is there twice", one.role));
  }
  return result;
}

} // namespace gossamer::actors
