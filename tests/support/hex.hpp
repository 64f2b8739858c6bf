#pragma once

#include <cctype>
#include <cstddef>
#include <cstdio>
#include <span>
#include <string>
#include <vector>

namespace gossamer::test {

/// Writes two hex digits a byte, sixteen bytes a line.
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

} // namespace gossamer::test
