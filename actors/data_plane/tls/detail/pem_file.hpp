#pragma once

#include "gossamer/base/file.hpp"

#include <cstdint>
#include <filesystem>
#include <string>

namespace gossamer::actors::detail {

/// Returns the text of a file with a certificate or a key. @error as of `read_text`
inline std::string read_pem(const std::filesystem::path& where) {
  return read_text(where.string(), {"PEM file", std::uint64_t{1} << 20, "it has a certificate or a key"});
}

} // namespace gossamer::actors::detail
