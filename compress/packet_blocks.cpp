#include "gossamer/compress/detail/packet_blocks.hpp"

namespace gossamer::compress::detail {

std::optional<packet_blocks> packet_blocks::of(const packet& p, const registry<codec_entry>& known) {
  auto contents = contents_of(p, known);
  if (!contents)
    return std::nullopt;
  const bool can =
      std::holds_alternative<level_packet>(contents->what) || std::holds_alternative<signed_packet>(contents->what);
  return can ? std::optional{packet_blocks{std::move(contents)}} : std::nullopt;
}

void packet_blocks::read(std::size_t first, std::span<float> to) const {
  if (const auto* levels = std::get_if<level_packet>(&contents_->what))
    levels->values(first, to);
  else
    std::get<signed_packet>(contents_->what).values(first, to);
}

} // namespace gossamer::compress::detail
