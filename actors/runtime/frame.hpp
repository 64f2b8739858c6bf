#pragma once

#include "gossamer/compress/packet.hpp"
#include "gossamer/topology/graph.hpp"

#include <array>
#include <compare>
#include <cstdint>
#include <string_view>

namespace gossamer::actors {

using compress::packet;
using topology::rank;

/// What a frame is for. The numbers are part of the wire format: never renumber.
enum class frame_kind : std::uint8_t {
  model = 1,           ///< a neighbour's model (D-PSGD)
  reduce_segment = 2,  ///< ring all-reduce, first half: partial sums
  gather_segment = 3,  ///< ring all-reduce, second half: complete sums
  average_request = 4, ///< pairwise averaging: the active side's model
  average_reply = 5,   ///< pairwise averaging: the passive side's model
  farewell = 6,        ///< the sender will not ask again
};
inline constexpr std::size_t frame_kinds = 7;

std::string_view to_string(frame_kind kind) noexcept;

/// What a receiver waits for: the kind of a frame, the step or exchange it belongs to, and its place within that.
struct tag {
  frame_kind kind;
  std::uint64_t step = 0;
  std::uint32_t part = 0;

  friend auto operator<=>(const tag&, const tag&) = default;
};

/// The unit that links carry: who sent it, what it is, and a packet. Copies share the payload.
struct frame {
  rank source = 0;
  tag label{frame_kind::model};
  packet body;

  /// Bytes on a wire: the frame's header and the packet (docs/wire-format.md).
  std::size_t wire_bytes() const noexcept { return header_bytes + body.wire_bytes(); }

  static constexpr std::size_t header_bytes = 24;
};

/// How much went over a link, or over several.
struct traffic {
  std::uint64_t frames = 0;
  std::uint64_t payload_bits = 0; ///< as the papers count: without headers and padding
  std::uint64_t wire_bits = 0;    ///< with both

  void count(const frame& f) noexcept {
    ++frames;
    payload_bits += f.body.bits;
    wire_bits += 8 * f.wire_bytes();
  }
  traffic& operator+=(const traffic& other) noexcept {
    frames += other.frames;
    payload_bits += other.payload_bits;
    wire_bits += other.wire_bits;
    return *this;
  }
  friend bool operator==(const traffic&, const traffic&) = default;
};

} // namespace gossamer::actors
