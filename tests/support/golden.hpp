#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "support/hex.hpp"

namespace gossamer::test {

/// Returns the whole file. Fails the test if it cannot be read.
inline std::string read_text(const std::filesystem::path& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file) << "cannot read " << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Expects the bytes of tests/golden/<name>. Bytes on the wire are a promise to peers of other versions: they change
/// only on purpose, with GOSSAMER_REGENERATE_GOLDEN=1, which rewrites the file and fails the test.
inline void expect_golden(const std::string& name, std::span<const std::byte> bytes) {
  const auto path = std::filesystem::path{GOSSAMER_SOURCE_DIR} / "tests/golden" / name;
  if (const char* wish = std::getenv("GOSSAMER_REGENERATE_GOLDEN"); wish && std::string{wish} == "1") {
    std::ofstream(path) << to_hex(bytes);
    ADD_FAILURE() << "wrote " << path << "; look at the difference before you commit it";
    return;
  }
  EXPECT_EQ(read_text(path), to_hex(bytes)) << name;
}

} // namespace gossamer::test
