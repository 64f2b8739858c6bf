#pragma once

#include "gossamer/compress/codec.hpp"
#include "gossamer/compress/detail/kept_count.hpp"
#include "gossamer/compress/detail/level_form.hpp"
#include "gossamer/compress/detail/sign_kernels.hpp"

#include <variant>

// Codecs and packets as plain data, for coders that make or read packets where vectors are, e.g. on a GPU.
namespace gossamer::compress::detail {

/// The numbers at the start of a payload, and their origin.
struct scale_rule {
  enum class kind : std::uint8_t {
    uniform,      ///< `uniform_scale` of the largest magnitude
    range,        ///< `sendable_range`
    largest_norm, ///< `sendable_norm` of the largest magnitude
    l2_norm,      ///< `sendable_norm` of the l2 norm
    clipped,      ///< `sendable_norm` of the largest magnitude, or of `clip` deviations if that is less
    plain_norm,   ///< the l2 norm, however small
    mean          ///< the mean magnitude
  };

  kind what;
  int bits = 0, levels = 0;
  double clip = 0;

  constexpr bool needs_ends() const noexcept {
    return what != kind::l2_norm && what != kind::plain_norm && what != kind::mean;
  }
  constexpr bool needs_sum() const noexcept {
    return what == kind::l2_norm || what == kind::plain_norm || what == kind::mean || what == kind::clipped;
  }
};

/// Codes of evenly spaced levels: uniform, min-max, qsgd with codes of fixed length, terngrad.
struct level_packing {
  std::uint8_t parameter = 0;
  std::vector<std::uint64_t> recipe = {};
  level_form::numbers numbers;
  int bits;
  scale_rule rule;
  std::uint64_t row = 0; ///< elements that share their numbers; 0: all
  rounding how = rounding::words;
  bool zero_in_scale_alone = false; ///< no codes follow when all numbers are 0
};

/// One bit an element: sign, scaled-sign, ssdm.
struct sign_packing {
  enum class kind : std::uint8_t { plain, scaled, random };

  kind what;
  bool sends_magnitudes = false;
  std::uint64_t row = 0; ///< elements that share a magnitude; 0: all
};

/// Elements that all workers choose alike (`codec::select`): grbs, and random-k, random-p with indices=seed.
struct shared_choice {
  bool looks_at_all; ///< true if elements that are not kept must be finite too
};

/// The elements of largest magnitude: top-k.
struct largest_choice {
  kept_count kept;
};

/// How a codec makes its packets. The codec itself encodes empty vectors and makes the choices that all workers make
/// alike.
struct packet_form {
  std::uint8_t wire_number;
  std::variant<level_packing, sign_packing, shared_choice, largest_choice> how;
};

/// Values, and behind them their places.
struct sent_places {
  std::uint64_t count;
  int bits; ///< width of a place
};

/// Contents of a packet. Pointers are into its payload.
struct packet_contents {
  std::variant<level_packet, signed_packet, selection, sent_places> what;
};

/// Checks everything but the values of a `selection` and of `sent_places`, and the places of the latter. Costs a pass
/// over the packet's header and scales, and the draw of the elements that all workers choose alike.
/// @returns null when only `decode` reads the packet
/// @error errc::bad_packet
std::shared_ptr<const packet_contents> contents_of(const packet& p, const registry<codec_entry>& known = codecs());

/// These two are for the entries of the registry, whose members return handles because codec.hpp does not know the
/// types.
inline std::shared_ptr<const packet_form> make_form(std::uint8_t wire_number, decltype(packet_form::how) how) {
  return std::make_shared<const packet_form>(packet_form{wire_number, std::move(how)});
}
inline std::shared_ptr<const packet_contents> make_contents(decltype(packet_contents::what) what) {
  return std::make_shared<const packet_contents>(packet_contents{std::move(what)});
}

/// Returns the contents of a packet of values and places; null if the places are drawn again.
std::shared_ptr<const packet_contents> contents_with_places(const packet& p);
/// Returns the contents of a packet of the values that are kept. @error errc::bad_packet when their number is wrong
std::shared_ptr<const packet_contents> contents_without_places(const packet& p, selection kept);

} // namespace gossamer::compress::detail
