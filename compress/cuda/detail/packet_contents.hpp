#pragma once

#include "gossamer/compress/detail/level_form.hpp"
#include "gossamer/compress/detail/places.hpp"
#include "gossamer/compress/detail/sign_kernels.hpp"

#include <optional>
#include <variant>

namespace gossamer::compress::cuda {

/// Values, and behind them the places that they belong to.
struct sent_places {
  std::uint64_t count;
  int bits; ///< of a place
};

/// What kernels add of a packet. Pointers are into its payload.
using packet_contents = std::variant<detail::level_packet, detail::signed_packet, selection, sent_places>;

/// Checks everything but the values of a `selection` and of `sent_places`, and the places of the latter, which are left
/// to a kernel. Cost: of the packet's header and scales, and of drawing the elements that all workers choose alike.
/// @returns none when only the processor decodes the packet
/// @error errc::bad_packet
std::optional<packet_contents> contents_of(const packet& p);

} // namespace gossamer::compress::cuda
