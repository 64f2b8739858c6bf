#pragma once

#include "gossamer/compress/packet.hpp"
#include "gossamer/topology/graph.hpp"

#include <compare>
#include <cstdint>
#include <memory>
#include <string_view>

namespace gossamer::actors {

using compress::packet;
using topology::rank;

/// What a frame is for. The numbers are part of the wire format: never renumber. (6 was a farewell.)
enum class frame_kind : std::uint8_t {
  model = 1,           ///< a neighbour's model (D-PSGD)
  reduce_segment = 2,  ///< ring all-reduce, first half: partial sums
  gather_segment = 3,  ///< ring all-reduce, second half: complete sums
  average_request = 4, ///< pairwise averaging: the active side's model
  average_reply = 5,   ///< pairwise averaging: the passive side's model
  state = 7,           ///< everything that a worker needs to take the place of its sender
  acknowledgement = 8, ///< all frames up to `step` have arrived
  difference = 9,      ///< by how much the sender's model, or its estimate, changes in a round (DCD, ECD)
  gather_packet = 10,  ///< ring all-gather: somebody's packet, handed on as it is
  request = 11,        ///< to a master: number `step` of this worker
  reply = 12,          ///< a master's answer to the request of this number
  invitation = 13,     ///< pairwise averaging: the passive side has a gradient, and wants to be asked
  snapshot = 14,       ///< to the node that evaluates: a master's model; never counted
  partial_means = 15,  ///< from node to node: what their workers' models come to; never counted
  checkpoint = 16,     ///< the sender's state has been saved for the checkpoint of this number, before what follows
  residual = 17,       ///< what compression has kept back of a worker that leaves before this step
};
/// From here on, kinds are for programs with algorithms of their own: ours will never use them.
inline constexpr auto first_own_kind = frame_kind{128};

/// Whether links carry frames of this kind: one of the above, or a program's own.
bool is_known(frame_kind kind) noexcept;
/// "own" for those of programs, "unknown" for what is no kind.
std::string_view to_string(frame_kind kind) noexcept;

/// What a receiver waits for: the kind of a frame, the step or exchange it belongs to, and its place within that.
struct tag {
  frame_kind kind;
  std::uint64_t step = 0;
  std::uint32_t part = 0;
  std::uint32_t view = 0; ///< of frames that mean something only among the members of one view: its number; else 0

  friend auto operator<=>(const tag&, const tag&) = default;
};

/// In a tag that is waited for: whatever the place.
inline constexpr std::uint32_t any_part = 0xFFFFFFFF;

/// The unit that links carry: who sent it, what it is, and a packet. Copies share the payload.
struct frame {
  rank source = 0;
  std::uint32_t incarnation = 0; ///< of the sender: how often it was started before
  std::uint64_t sequence = 0;    ///< number on its channel, from 1; 0: not numbered
  tag label{frame_kind::model};
  packet body;
  std::shared_ptr<const void> on_the_way = {}; ///< a share of what is, see under_way.hpp; null: nobody counts it

  /// Bytes on a wire: the frame's header, 7 to 41 of them, and the packet (docs/wire-format.md).
  std::size_t wire_bytes() const noexcept;
};

/// A frame of so many bytes takes as long to copy as a thread to wake.
inline constexpr std::size_t longest_short_frame = 64 << 10;

/// The bytes of a frame on a wire.
buffer write(buffer_pool& pool, const frame& f);
/// Those before the payload: behind them the payload follows as it is, and need not be copied to be sent.
buffer write_head(buffer_pool& pool, const frame& f, compress::guard by = compress::guard::checksum);

/// Reads what `write` made, and nothing else: the bytes are not trusted. One checksum, the packet's, guards both.
/// @param most_elements see compress::read
/// @error errc::bad_packet says what is wrong
frame read_frame(buffer_pool& pool, std::span<const std::byte> bytes,
                 std::uint64_t most_elements = compress::packet_most_elements);

/// A frame whose head has been read; the payload of its packet is still to come, to where it stays.
struct arriving_frame {
  frame content; ///< with a payload of the right size
  std::uint64_t prefix = 0;
  std::uint32_t checksum = 0; ///< 0: there is none
};

/// Of what stands before a payload.
inline constexpr std::size_t longest_frame_head = 1 + 4 * 5 + 2 * 10 + compress::longest_head;

/// Does what `read_frame` does until the payload is needed.
/// @param bytes the frame as far as it is there: at least `longest_frame_head` bytes, or all; what it takes is gone
///        after it
/// @param size of the whole frame
arriving_frame read_frame_head(buffer_pool& pool, std::span<const std::byte>& bytes, std::uint64_t size,
                               std::uint64_t most_elements = compress::packet_most_elements);
/// The payload has come: does the rest of what `read_frame` does.
frame complete(arriving_frame f);

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
