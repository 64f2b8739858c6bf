#include "gossamer/compress/packet.hpp"

#include "gossamer/base/varint.hpp"
#include "gossamer/compress/detail/checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <xxhash.h>

namespace gossamer::compress {
namespace {

constexpr std::size_t most_recipe_words = 255;

/// How every packet begins; little-endian, like every machine that Gossamer runs on (see identity.cpp). The number of
/// elements and of bits follow, as varints.
struct header {
  std::uint8_t version;
  std::uint8_t codec;
  std::uint8_t parameter;
  std::uint8_t recipe_words;
  std::uint32_t checksum;
};
static_assert(sizeof(header) == 8 && offsetof(header, checksum) == 4);

/// The hash of what follows, with the hash of the first four bytes as seed, so that neither needs a copy.
std::uint32_t checksum_of(const header& h, std::span<const std::byte> rest, std::uint64_t prefix) {
  const auto seed = XXH3_64bits_withSeed(&h, offsetof(header, checksum), prefix);
  return static_cast<std::uint32_t>(XXH3_64bits_withSeed(rest.data(), rest.size(), seed));
}

/// The same of a payload that lies elsewhere.
std::uint32_t checksum_of(const header& h, std::span<const std::byte> rest_of_head, std::span<const std::byte> payload,
                          std::uint64_t prefix) {
  thread_local const std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state{XXH3_createState(),
                                                                                    &XXH3_freeState};
  if (!state)
    throw std::bad_alloc{};
  XXH3_64bits_reset_withSeed(state.get(), XXH3_64bits_withSeed(&h, offsetof(header, checksum), prefix));
  XXH3_64bits_update(state.get(), rest_of_head.data(), rest_of_head.size());
  XXH3_64bits_update(state.get(), payload.data(), payload.size());
  return static_cast<std::uint32_t>(XXH3_64bits_digest(state.get()));
}

std::uint64_t take(std::span<const std::byte>& bytes) {
  const auto n = take_varint(bytes);
  if (!n)
    throw detail::bad_packet("packet has no proper number of elements and bits in its header");
  return *n;
}

void check_size(std::uint64_t bits, std::size_t present) {
  const auto promised = whole_bytes(bits);
  if (present < promised)
    throw detail::bad_packet(
        fmt::format("packet is cut short: {} bits need a payload of {} bytes, {} are there", bits, promised, present));
  if (present > promised)
    throw detail::bad_packet(fmt::format("{} bytes follow the payload of a packet", present - promised));
}

void check_padding(std::uint64_t bits, std::span<const std::byte> payload) {
  if (bits % 8 != 0 && std::to_integer<unsigned>(payload.back()) >> (bits % 8) != 0)
    throw detail::bad_packet("packet has bits set behind its last bit");
}

} // namespace

std::size_t packet::wire_bytes() const noexcept {
  return sizeof(header) + varint_bytes(elements) + varint_bytes(bits) + sizeof(std::uint64_t) * recipe.size()
         + payload.size();
}

std::byte* write_head(const packet& p, std::byte* to, std::uint64_t prefix) {
  GOSSAMER_ASSERT(p.payload.size() == whole_bytes(p.bits), "a codec fills the payload that it declares");
  GOSSAMER_ASSERT(p.recipe.size() <= most_recipe_words, "a recipe is short");
  header h{packet_version, p.codec, p.parameter, static_cast<std::uint8_t>(p.recipe.size()), 0};
  const auto rest = to + sizeof h;
  const auto end =
      std::ranges::copy(std::as_bytes(std::span{p.recipe}), put_varint(put_varint(rest, p.elements), p.bits)).out;
  h.checksum = checksum_of(h, {rest, end}, p.payload.bytes(), prefix);
  std::memcpy(to, &h, sizeof h);
  return end;
}

void write(const packet& p, std::byte* to, std::uint64_t prefix) {
  std::ranges::copy(p.payload.bytes(), write_head(p, to, prefix));
}

packet opaque(std::span<const std::byte> bytes, buffer_pool pool) {
  packet p;
  p.payload = pool.allocate(bytes.size());
  std::ranges::copy(bytes, p.payload.data());
  p.bits = 8 * bytes.size();
  return p;
}

buffer write(const packet& p) {
  auto result = p.payload.pool().allocate(p.wire_bytes());
  write(p, result.data(), 0);
  return result;
}

packet read(buffer_pool& pool, std::span<const std::byte> bytes, std::uint64_t most_elements, std::uint64_t prefix) {
  header h;
  if (bytes.size() < sizeof h)
    throw detail::bad_packet(
        fmt::format("packet of {} bytes is shorter than its header of at least {}", bytes.size(), sizeof h + 2));
  std::memcpy(&h, bytes.data(), sizeof h);
  if (h.version != packet_version)
    throw detail::bad_packet(
        fmt::format("packet has version {}, this program reads version {}", h.version, packet_version));
  const auto guarded = bytes.subspan(sizeof h);
  auto rest = guarded;
  const auto elements = take(rest);
  const auto bits = take(rest);
  const std::size_t recipe_bytes = sizeof(std::uint64_t) * h.recipe_words;
  if (rest.size() < recipe_bytes)
    throw detail::bad_packet(
        fmt::format("packet is cut short: its recipe has {} words, {} bytes are there", h.recipe_words, rest.size()));
  const auto payload = rest.subspan(recipe_bytes);
  check_size(bits, payload.size());
  if (elements > most_elements)
    throw detail::bad_packet(fmt::format("packet has {} elements, more than the {} allowed", elements, most_elements));
  if (h.checksum != checksum_of(h, guarded, prefix))
    throw detail::bad_packet("packet has a wrong checksum");
  check_padding(bits, payload);

  packet p{h.codec, h.parameter, elements, bits, pool.allocate(payload.size()), {}};
  p.recipe.resize(h.recipe_words);
  std::ranges::copy(rest.first(recipe_bytes), std::as_writable_bytes(std::span{p.recipe}).data());
  std::ranges::copy(payload, p.payload.data());
  return p;
}

} // namespace gossamer::compress
