#include "gossamer/compress/packet.hpp"

#include "gossamer/base/varint.hpp"
#include "gossamer/compress/detail/checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <xxhash.h>

#ifdef GOSSAMER_XXHASH_DISPATCHES
#include <xxh_x86dispatch.h> // redirects the functions of xxhash.h
#endif

namespace gossamer::compress {
namespace {

constexpr std::size_t most_recipe_words = 255;

/// Start of every packet; little-endian, like every machine that Gossamer runs on (identity.cpp). The numbers of
/// elements and of bits follow, as varints.
struct header {
  std::uint8_t version;
  std::uint8_t codec;
  std::uint8_t parameter;
  std::uint8_t recipe_words;
  std::uint32_t checksum; ///< 0: there is none
};
static_assert(sizeof(header) == 8 && offsetof(header, checksum) == 4);

/// Returns the hash of the rest, with the hash of the first four bytes as seed, so that neither needs a copy. Never 0.
std::uint32_t checksum_of(const header& h, std::span<const std::byte> rest_of_head, std::span<const std::byte> payload,
                          std::uint64_t prefix) {
  thread_local const std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state{XXH3_createState(),
                                                                                    &XXH3_freeState};
  if (!state)
    throw std::bad_alloc{};
  XXH3_64bits_reset_withSeed(state.get(), XXH3_64bits_withSeed(&h, offsetof(header, checksum), prefix));
  XXH3_64bits_update(state.get(), rest_of_head.data(), rest_of_head.size());
  XXH3_64bits_update(state.get(), payload.data(), payload.size());
  return std::max(std::uint32_t{1}, static_cast<std::uint32_t>(XXH3_64bits_digest(state.get())));
}

header header_of(const packet& p) noexcept {
  return {packet_version, p.codec, p.parameter, static_cast<std::uint8_t>(p.recipe.size()), 0};
}

/// Writes the part between the header and the payload.
std::byte* write_rest_of_head(const packet& p, std::byte* to) {
  return std::ranges::copy(std::as_bytes(std::span{p.recipe}), put_varint(put_varint(to, p.elements), p.bits)).out;
}

std::uint64_t take(std::span<const std::byte>& bytes) {
  const auto n = take_varint(bytes);
  if (!n)
    throw detail::bad_packet("packet has no proper number of elements and bits in its header");
  return *n;
}

void check_size(std::uint64_t bits, std::uint64_t present) {
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

/// The part of a packet before its payload.
struct head {
  header first;
  std::uint64_t elements = 0, bits = 0;
  std::span<const std::byte> recipe;
  std::size_t bytes = 0;
};

/// @param size bytes of the whole packet, of which `bytes` have arrived
head parse(std::span<const std::byte> bytes, std::uint64_t size, std::uint64_t most_elements) {
  head h;
  if (bytes.size() < sizeof h.first)
    throw detail::bad_packet(
        fmt::format("packet of {} bytes is shorter than its header of at least {}", bytes.size(), sizeof h.first + 2));
  std::memcpy(&h.first, bytes.data(), sizeof h.first);
  if (h.first.version != packet_version)
    throw detail::bad_packet(
        fmt::format("packet has version {}, this program reads version {}", h.first.version, packet_version));
  auto rest = bytes.subspan(sizeof h.first);
  h.elements = take(rest);
  h.bits = take(rest);
  const std::size_t recipe_bytes = sizeof(std::uint64_t) * h.first.recipe_words;
  if (rest.size() < recipe_bytes)
    throw detail::bad_packet(fmt::format("packet is cut short: its recipe has {} words, {} bytes are there",
                                         h.first.recipe_words, rest.size()));
  h.recipe = rest.first(recipe_bytes);
  h.bytes = bytes.size() - rest.size() + recipe_bytes;
  check_size(h.bits, size - h.bytes);
  if (h.elements > most_elements)
    throw detail::bad_packet(
        fmt::format("packet has {} elements, more than the {} allowed", h.elements, most_elements));
  return h;
}

/// Returns a packet whose payload is still to be filled.
packet announced(const head& h, buffer_pool& pool, std::uint64_t payload_bytes) {
  packet p{h.first.codec, h.first.parameter, h.elements, h.bits, pool.allocate(payload_bytes), {}};
  p.recipe.resize(h.first.recipe_words);
  std::ranges::copy(h.recipe, std::as_writable_bytes(std::span{p.recipe}).data());
  return p;
}

void check_checksum(const header& first, std::span<const std::byte> rest_of_head, std::span<const std::byte> payload,
                    std::uint64_t prefix) {
  if (first.checksum != checksum_of(first, rest_of_head, payload, prefix))
    throw detail::bad_packet("packet has a wrong checksum");
}

} // namespace

std::size_t packet::wire_bytes() const noexcept {
  return sizeof(header) + varint_bytes(elements) + varint_bytes(bits) + sizeof(std::uint64_t) * recipe.size()
         + payload.size();
}

std::byte* write_head(const packet& p, std::byte* to, std::uint64_t prefix, guard by) {
  GOSSAMER_ASSERT(p.payload.size() == whole_bytes(p.bits), "a codec fills the payload that it declares");
  GOSSAMER_ASSERT(p.recipe.size() <= most_recipe_words, "a recipe is short");
  auto h = header_of(p);
  const auto rest = to + sizeof h;
  const auto end = write_rest_of_head(p, rest);
  if (by == guard::checksum)
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
  const auto h = parse(bytes, bytes.size(), most_elements);
  const auto payload = bytes.subspan(h.bytes);
  check_checksum(h.first, bytes.subspan(sizeof h.first, h.bytes - sizeof h.first), payload, prefix);
  check_padding(h.bits, payload);
  auto p = announced(h, pool, payload.size());
  std::ranges::copy(payload, p.payload.data());
  return p;
}

arriving_packet read_head(buffer_pool& pool, std::span<const std::byte>& bytes, std::uint64_t size,
                          std::uint64_t most_elements) {
  const auto h = parse(bytes, size, most_elements);
  bytes = bytes.subspan(h.bytes);
  return {announced(h, pool, size - h.bytes), h.first.checksum};
}

packet complete(arriving_packet p, std::uint64_t prefix) {
  const auto payload = p.content.payload.bytes();
  if (p.checksum != 0) {
    std::array<std::byte, longest_head> rest_of_head;
    auto first = header_of(p.content);
    first.checksum = p.checksum;
    check_checksum(first, {rest_of_head.data(), write_rest_of_head(p.content, rest_of_head.data())}, payload, prefix);
  }
  check_padding(p.content.bits, payload);
  return std::move(p.content);
}

} // namespace gossamer::compress
