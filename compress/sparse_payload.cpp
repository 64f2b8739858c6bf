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
  const int bits = place_bits(p.elements);
  // The last byte of the values also holds the start of the first place.
  const auto out = p.payload.bytes().subspan(static_cast<std::size_t>(first_bit / 8));
  bit_writer writer{out};
  if (const int begun = static_cast<int>(first_bit % 8); begun > 0)
    writer.put(std::to_integer<std::uint64_t>(out.front()) & ((1u << begun) - 1), begun);
  std::size_t k = 0;
  for (; k + 2 <= kept.size(); k += 2) // two at once are as fast as one
    writer.put(kept[k] | std::uint64_t{kept[k + 1]} << bits, 2 * bits);
  for (; k < kept.size(); ++k)
    writer.put(kept[k], bits);
  writer.finish();
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
