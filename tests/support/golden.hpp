#pragma once

#include <gtest/gtest.h>

#include <cctype>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <vector>

namespace gossamer::test {

/// Two hex digits a byte, sixteen bytes a line.
inline std::string to_hex(std::span<const std::byte> bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", std::to_integer<unsigned>(bytes[i]));
    text += digits;
    text += i % 16 == 15 || i + 1 == bytes.size() ? '\n' : ' ';
  }
  return text;
}

inline std::vector<std::byte> from_hex(const std::string& text) {
  std::vector<std::byte> bytes;
  for (std::size_t i = 0; i < text.size(); ++i)
    if (std::isxdigit(static_cast<unsigned char>(text[i]))) {
      bytes.push_back(static_cast<std::byte>(std::stoi(text.substr(i, 2), nullptr, 16)));
      ++i;
    }
  return bytes;
}

/// The whole file; a failed test when it cannot be read.
inline std::string read_text(const std::filesystem::path& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file) << "cannot read " << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The bytes are those of tests/golden/<name>. Bytes on the wire are a promise to peers of other
/// versions: they change only on purpose, with GOSSAMER_REGENERATE_GOLDEN=1, which rewrites the
/// file and fails the test.
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
