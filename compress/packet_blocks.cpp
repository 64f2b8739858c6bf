#include "gossamer/compress/detail/packet_blocks.hpp"

#include "gossamer/compress/detail/levels.hpp"

#include <algorithm>

namespace gossamer::compress::detail {

namespace {

/// True if each row of signs begins on a whole byte.
bool is_aligned(const signed_packet& signs, std::uint64_t elements) {
  return signs.row >= elements || signs.row % 8 == 0;
}

void read_block(const level_packet& levels, std::size_t first, std::span<float> to) { levels.values(first, to); }

void read_block(const signed_packet& signs, std::size_t first, std::span<float> to) {
  if (signs.bits == nullptr) {
    std::ranges::fill(to, 0.0f);
    return;
  }
  for_each_part(first, first + to.size(), signs.row, [&](std::size_t row, std::size_t begin, std::size_t count) {
    const float magnitude = signs.magnitudes == nullptr ? 1 : signs.magnitudes[row];
    unpack_sign_bits(signs.bits + begin / 8, magnitude, to.subspan(begin - first, count));
  });
}

} // namespace

std::optional<packet_blocks> packet_blocks::of(const packet& p) {
  auto contents = contents_of(p);
  if (!contents)
    return std::nullopt;
  const auto* signs = std::get_if<signed_packet>(&contents->what);
  const bool can = signs ? is_aligned(*signs, p.elements) : std::holds_alternative<level_packet>(contents->what);
  return can ? std::optional{packet_blocks{std::move(contents)}} : std::nullopt;
}

void packet_blocks::read(std::size_t first, std::span<float> to) const {
  if (const auto* levels = std::get_if<level_packet>(&contents_->what))
    read_block(*levels, first, to);
  else
    read_block(std::get<signed_packet>(contents_->what), first, to);
}

} // namespace gossamer::compress::detail
