#include "gossamer/actors/telemetry/crc32c.hpp"

#include <array>

namespace gossamer::actors {

namespace {

constexpr std::uint32_t polynomial = 0x82F63B78; // 0x1EDC6F41, its bits reversed

constexpr auto remainders = [] {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < table.size(); ++byte) {
    auto rest = byte;
    for (int bit = 0; bit < 8; ++bit)
      rest = rest >> 1 ^ (rest & 1) * polynomial;
    table[byte] = rest;
  }
  return table;
}();

} // namespace

std::uint32_t crc32c(std::string_view bytes) noexcept {
  std::uint32_t rest = ~0u;
  for (const char byte : bytes)
    rest = rest >> 8 ^ remainders[(rest ^ static_cast<unsigned char>(byte)) & 0xFF];
  return ~rest;
}

} // namespace gossamer::actors
