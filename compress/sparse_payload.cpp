#include "gossamer/compress/detail/sparse_payload.hpp"

#include "gossamer/compress/bit_stream.hpp"
#include "gossamer/compress/detail/checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace gossamer::compress::detail {
namespace {

constexpr int float_bits = 32;

/// Allocates room for floats and, if they are sent, for the places.
packet allocate(std::uint8_t codec, std::uint8_t parameter, std::uint64_t elements, const places& kept) {
  const int bits_each = float_bits + (parameter == places_sent ? place_bits(elements) : 0);
  const auto bits = static_cast<std::uint64_t>(bits_each) * kept.size();
  return {codec, parameter, elements, bits, kept.pool().allocate(whole_bytes(bits)), {}};
}

/// Writes the values at the beginning of a payload.
void write_values(packet& p, const vec& v, const places& kept, float factor) {
  const std::span values{reinterpret_cast<float*>(p.payload.data()), kept.size()};
  std::ranges::transform(kept, values.begin(), [from = v.view()](auto i) { return from[i]; });
  scale_finite(values, factor);
}

/// The bits of the byte that holds `bit` and come before it.
std::uint64_t before(std::span<const std::byte> bytes, std::uint64_t bit) {
  return bit % 8 == 0 ? 0 : std::to_integer<std::uint64_t>(bytes[bit / 8]) & ((1u << bit % 8) - 1);
}

/// Writes all numbers but some of the last eight bytes, two at once where they are narrow.
/// @returns how many
std::size_t write_with_room(std::span<std::byte> bytes, std::uint64_t first_bit, std::span<const std::uint32_t> numbers,
                            int bits) {
  const auto last = 8 * bytes.size() - std::min<std::uint64_t>(8 * bytes.size(), 64); // where 8 bytes can be stored
  if (bits == 0 || numbers.empty() || last < first_bit)
    return 0;
  const std::size_t most = std::min<std::uint64_t>(numbers.size(), (last - first_bit) / static_cast<unsigned>(bits));
  roomy_bit_writer writer{bytes.data() + first_bit / 8};
  writer.put(before(bytes, first_bit), static_cast<int>(first_bit % 8));
  std::size_t k = 0;
  for (; bits <= 28 && k + 2 <= most; k += 2)
    writer.put(numbers[k] | std::uint64_t{numbers[k + 1]} << bits, 2 * bits);
  for (; k < most; ++k)
    writer.put(numbers[k], bits);
  return k;
}

void write_last(std::span<std::byte> bytes, std::uint64_t first_bit, std::span<const std::uint32_t> numbers, int bits) {
  if (numbers.empty())
    return;
  bit_writer writer{bytes.subspan(static_cast<std::size_t>(first_bit / 8))};
  writer.put(before(bytes, first_bit), static_cast<int>(first_bit % 8));
  for (const auto number : numbers)
    writer.put(number, bits);
  writer.finish();
}

std::span<const float> read_values(const packet& p, std::size_t count) {
  const std::span values{reinterpret_cast<const float*>(p.payload.data()), count};
  if (!std::isfinite(max_magnitude(values)))
    throw bad_packet(fmt::format("packet of codec {} holds a value that is not finite", p.codec));
  return values;
}

} // namespace

parameter scale_parameter(std::string_view factor) {
  return {.key = "scale",
          .kind = parameter::type::choice,
          .fallback = "unbiased",
          .meaning = fmt::format("what is kept is multiplied by {}, or sent as it is", factor),
          .choices = {"unbiased", "none"}};
}

parameter indices_parameter() {
  return {.key = "indices",
          .kind = parameter::type::choice,
          .fallback = "sent",
          .meaning = "places are sent, or drawn again by the receiver",
          .choices = {"sent", "seed"}};
}

int place_bits(std::uint64_t elements) noexcept {
  return elements == 0 ? 0 : static_cast<int>(std::bit_width(elements - 1));
}

void scale_finite(std::span<float> values, float factor) noexcept {
  constexpr auto largest = std::numeric_limits<float>::max();
  for (float& x : values)
    x = std::clamp(factor * x, -largest, largest);
}

packet values_with_places(std::uint8_t codec, const vec& v, const places& kept, float factor) {
  auto p = allocate(codec, places_sent, v.size(), kept);
  write_values(p, v, kept, factor);
  write_places(p, std::uint64_t{float_bits} * kept.size(), kept);
  return p;
}

packet values_with_places(std::uint8_t codec, std::uint64_t elements, const places& kept,
                          std::span<const float> values) {
  auto p = allocate(codec, places_sent, elements, kept);
  std::ranges::copy(std::as_bytes(values), p.payload.data());
  write_places(p, std::uint64_t{float_bits} * kept.size(), kept);
  return p;
}

packet values_without_places(std::uint8_t codec, const vec& v, const places& kept, float factor,
                             std::vector<std::uint64_t> recipe) {
  auto p = allocate(codec, places_redrawn, v.size(), kept);
  write_values(p, v, kept, factor);
  p.recipe = std::move(recipe);
  return p;
}

vec decode_with_places(const packet& p) {
  expect_recipe(p, 0);
  if (p.parameter != places_sent)
    throw bad_packet(fmt::format("packet of codec {} has the unknown parameter {}", p.codec, p.parameter));
  const auto count = read_count(p, 0, float_bits + place_bits(p.elements));
  const auto values = read_values(p, count);
  return scatter(p.payload.pool(), p.elements, read_places(p, std::uint64_t{float_bits} * count, count), values);
}

vec decode_without_places(const packet& p, const places& kept) {
  expect_bits(p, std::uint64_t{float_bits} * kept.size());
  return scatter(p.payload.pool(), p.elements, kept, read_values(p, kept.size()));
}

std::size_t read_count(const packet& p, std::uint64_t fixed, int bits_each) {
  const auto each = static_cast<std::uint64_t>(bits_each);
  const auto count = p.bits < fixed ? 0 : (p.bits - fixed) / each;
  if (p.elements > packet_most_elements || count > p.elements)
    throw bad_packet(fmt::format("packet of codec {} has {} values and {} elements; allowed: {} elements", p.codec,
                                 count, p.elements, packet_most_elements));
  expect_bits(p, fixed + each * count);
  return count;
}

void write_places(packet& p, std::uint64_t first_bit, const places& kept) {
  const std::span numbers{kept.begin(), kept.end()};
  const auto room = p.payload.bytes();
  const auto quick = write_with_room(room, first_bit, numbers, place_bits(p.elements));
  write_last(room, first_bit + quick * static_cast<unsigned>(place_bits(p.elements)), numbers.subspan(quick),
             place_bits(p.elements));
}

places read_places(const packet& p, std::uint64_t first_bit, std::size_t count) {
  const int bits = place_bits(p.elements);
  const auto whole = first_bit / 8;
  bit_reader reader{p.payload.bytes().subspan(static_cast<std::size_t>(whole)), p.bits - 8 * whole};
  reader.take(static_cast<int>(first_bit % 8));
  places result{p.payload.pool(), count};
  auto* to = result.data();
  std::uint64_t least = 0;
  for (std::size_t k = 0; k < count; ++k) {
    const auto i = reader.take(bits);
    if (i < least || i >= p.elements)
      throw bad_packet(fmt::format("packet of codec {} has the place {} where {} to {} are possible", p.codec, i, least,
                                   p.elements - 1));
    to[k] = static_cast<std::uint32_t>(i);
    least = i + 1;
  }
  return result;
}

vec scatter(buffer_pool pool, std::uint64_t elements, const places& kept, std::span<const float> values) {
  vec v{pool, elements};
  const auto all = v.overwrite();
  auto value = values.begin();
  for (const auto i : kept)
    all[i] = *value++;
  return v;
}

} // namespace gossamer::compress::detail
