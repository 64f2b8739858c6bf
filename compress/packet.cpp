#include "gossamer/compress/packet.hpp"

#include "gossamer/compress/detail/checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <xxhash.h>

namespace gossamer::compress {
namespace {

constexpr std::array<char, 4> magic{'G', 'O', 'S', 'M'};
constexpr std::uint8_t version = 1;
constexpr std::size_t most_recipe_words = 255;

/// The header as it lies on the wire; little-endian, like every machine that Gossamer runs on (see
/// identity.cpp).
struct header {
  std::array<char, 4> magic;
  std::uint8_t version;
  std::uint8_t codec;
  std::uint8_t parameter;
  std::uint8_t recipe_words;
  std::uint64_t elements;
  std::uint64_t bits;
  std::uint64_t checksum;
};
static_assert(sizeof(header) == packet_header_bytes && offsetof(header, checksum) == 24);

/// The hash of recipe and payload with the hash of the header's other fields as seed, so that neither needs a copy.
std::uint64_t checksum_of(const header& h, std::span<const std::byte> rest) {
  return XXH3_64bits_withSeed(rest.data(), rest.size(), XXH3_64bits(&h, offsetof(header, checksum)));
}

void check_form(const header& h) {
  if (h.magic != magic)
    throw detail::bad_packet("packet does not begin with 'GOSM'");
  if (h.version != version)
    throw detail::bad_packet(fmt::format("packet has version {}, this program reads version {}", h.version, version));
}

void check_size(const header& h, std::size_t present) {
  const auto promised = whole_bytes(h.bits);
  if (present < promised)
    throw detail::bad_packet(fmt::format("packet is cut short: {} bits need a payload of {} bytes, {} are there",
                                         h.bits, promised, present));
  if (present > promised)
    throw detail::bad_packet(fmt::format("{} bytes follow the payload of a packet", present - promised));
}

void check_padding(std::uint64_t bits, std::span<const std::byte> payload) {
  if (bits % 8 != 0 && std::to_integer<unsigned>(payload.back()) >> (bits % 8) != 0)
    throw detail::bad_packet("packet has bits set behind its last bit");
}

} // namespace

std::size_t packet::wire_bytes() const noexcept {
  return packet_header_bytes + sizeof(std::uint64_t) * recipe.size() + payload.size();
}

buffer write(const packet& p) {
  GOSSAMER_ASSERT(p.payload.size() == whole_bytes(p.bits), "a codec fills the payload that it declares");
  GOSSAMER_ASSERT(p.recipe.size() <= most_recipe_words, "a recipe is short");
  header h{magic, version, p.codec, p.parameter, static_cast<std::uint8_t>(p.recipe.size()), p.elements, p.bits, 0};
  auto result = p.payload.pool().allocate(p.wire_bytes());
  const auto rest = std::span{result.data(), result.size()}.subspan(sizeof h);
  const auto recipe = std::as_bytes(std::span{p.recipe});
  std::ranges::copy(recipe, rest.begin());
  std::ranges::copy(p.payload.bytes(), rest.subspan(recipe.size()).begin());
  h.checksum = checksum_of(h, rest);
  std::memcpy(result.data(), &h, sizeof h);
  return result;
}

packet read(buffer_pool& pool, std::span<const std::byte> bytes, std::uint64_t most_elements) {
  header h;
  if (bytes.size() < sizeof h)
    throw detail::bad_packet(
        fmt::format("packet of {} bytes is shorter than its header of {}", bytes.size(), sizeof h));
  std::memcpy(&h, bytes.data(), sizeof h);
  check_form(h);
  const auto rest = bytes.subspan(sizeof h);
  const std::size_t recipe_bytes = sizeof(std::uint64_t) * h.recipe_words;
  if (rest.size() < recipe_bytes)
    throw detail::bad_packet(
        fmt::format("packet is cut short: its recipe has {} words, {} bytes are there", h.recipe_words, rest.size()));
  const auto payload = rest.subspan(recipe_bytes);
  check_size(h, payload.size());
  if (h.elements > most_elements)
    throw detail::bad_packet(
        fmt::format("packet has {} elements, more than the {} allowed", h.elements, most_elements));
  if (h.checksum != checksum_of(h, rest))
    throw detail::bad_packet("packet has a wrong checksum");
  check_padding(h.bits, payload);

  packet p{h.codec, h.parameter, h.elements, h.bits, pool.allocate(payload.size()), {}};
  p.recipe.resize(h.recipe_words);
  std::ranges::copy(rest.first(recipe_bytes), std::as_writable_bytes(std::span{p.recipe}).data());
  std::ranges::copy(payload, p.payload.data());
  return p;
}

} // namespace gossamer::compress
