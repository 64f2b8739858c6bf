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

/// The purpose of a frame. The numbers are part of the wire format: never renumber. (6 was a farewell.)
enum class frame_kind : std::uint8_t {
  model = 1,           ///< a neighbour's model (D-PSGD)
  reduce_segment = 2,  ///< ring all-reduce, first half: partial sums
  gather_segment = 3,  ///< ring all-reduce, second half: complete sums
  average_request = 4, ///< pairwise averaging: the active side's model
  average_reply = 5,   ///< pairwise averaging: the passive side's model
  state = 7,           ///< everything that a worker needs to take the place of the sender
  acknowledgement = 8, ///< all frames up to `step` have arrived
  difference = 9,      ///< change of the sender's model, or of its estimate, in a round (DCD, ECD)
  gather_packet = 10,  ///< ring all-gather: a worker's packet, handed on unchanged
  request = 11,        ///< to a master: number `step` of this worker
  reply = 12,          ///< a master's answer to the request of this number
  invitation = 13,     ///< pairwise averaging: the passive side has a gradient and asks to be asked
  snapshot = 14,       ///< to the node that evaluates: a master's model; never counted
  partial_means = 15,  ///< from node to node: means of the models of their workers; never counted
  checkpoint = 16, ///< the sender has saved its state for the checkpoint of this number, before the frames that follow
  residual = 17,   ///< what a worker hands to its heir that leaves before this step (algorithm::handed_over)
};
/// First of the kinds that programs with algorithms of their own may use: Gossamer will never use them.
inline constexpr auto first_own_kind = frame_kind{128};

/// True if links carry frames of this kind: one of the above, or a program's own.
bool is_known(frame_kind kind) noexcept;
/// "own" for a program's kinds, "unknown" for a number that is no kind.
std::string_view to_string(frame_kind kind) noexcept;

/// The label that a receiver waits for: the kind of a frame, the step or exchange it belongs to, and its place within
/// that.
struct tag {
  frame_kind kind;
  std::uint64_t step = 0;
  std::uint32_t part = 0;
  std::uint32_t view = 0; ///< number of the view whose members alone understand the frame; else 0

  friend auto operator<=>(const tag&, const tag&) = default;
};

/// In a tag that a receiver waits for: any part.
inline constexpr std::uint32_t any_part = 0xFFFFFFFF;

/// The unit that links carry: sender, label and a packet. Copies share the payload.
struct frame {
  rank source = 0;
  std::uint32_t incarnation = 0; ///< of the sender
  std::uint64_t sequence = 0;    ///< number on its channel, from 1; 0: not numbered
  tag label{frame_kind::model};
  packet body = {};
  std::shared_ptr<const void> on_the_way = {}; ///< a share of the bytes under way, see under_way.hpp; null: not counted

  /// Bytes on a wire: the frame's header, 7 to 41 of them, and the packet (docs/wire-format.md).
  std::size_t wire_bytes() const noexcept;
};

/// Length of the slices in which long sums travel: one is added while the next is on its way, and both stay in a cache.
inline constexpr std::size_t slice_bytes = 512 << 10;

/// The bytes of a frame on a wire.
buffer write(buffer_pool& pool, const frame& f);
/// The bytes before the payload. A sender may send the payload from its own buffer behind them, without a copy.
buffer write_head(buffer_pool& pool, const frame& f, compress::guard by = compress::guard::checksum);

/// Reads the output of `write`, and nothing else: the bytes are not trusted. One checksum, the packet's, guards both.
/// @param most_elements see compress::read
/// @error errc::bad_packet with the fault of the bytes
frame read_frame(buffer_pool& pool, std::span<const std::byte> bytes,
                 std::uint64_t most_elements = compress::packet_most_elements);

/// A frame whose head has been read. The payload of its packet is still to come, and is received in place.
struct arriving_frame {
  frame content; ///< with a payload of the right size
  std::uint64_t prefix = 0;
  std::uint32_t checksum = 0; ///< 0: no checksum
};

/// Most bytes that stand before a payload.
inline constexpr std::size_t longest_frame_head = 1 + 4 * 5 + 2 * 10 + compress::longest_head;

/// Does the part of `read_frame` that precedes the payload.
/// @param bytes the frame as far as it has arrived: at least `longest_frame_head` bytes, or all; the bytes that are
///        read are removed from it
/// @param size of the whole frame
arriving_frame read_frame_head(buffer_pool& pool, std::span<const std::byte>& bytes, std::uint64_t size,
                               std::uint64_t most_elements = compress::packet_most_elements);
/// Does the rest of `read_frame` once the payload has arrived.
frame complete(arriving_frame f);

/// Numbers of averagings of two models, as their askers count them (collectives/pairwise_average.hpp).
struct averagings {
  std::uint64_t asked = 0;   ///< questions sent
  std::uint64_t done = 0;    ///< answers applied
  std::uint64_t dropped = 0; ///< due and never asked: too many were due, the peer was gone, or training was over

  averagings& operator+=(const averagings& other) noexcept {
    asked += other.asked;
    done += other.done;
    dropped += other.dropped;
    return *this;
  }
  friend bool operator==(const averagings&, const averagings&) = default;
};

/// Totals of the frames that went over one or more links, and of the averagings that they served.
struct traffic {
  std::uint64_t frames = 0;
  std::uint64_t payload_bits = 0; ///< as the papers count: without headers and padding
  std::uint64_t wire_bits = 0;    ///< with headers and padding
  /// Payload from one island to another; 0 where there are no islands.
  std::uint64_t bits_between_islands = 0;
  averagings averaged = {};

  /// @param crosses whether it goes to another island
  void count(const frame& f, bool crosses = false) noexcept {
    ++frames;
    payload_bits += f.body.bits;
    wire_bits += 8 * f.wire_bytes();
    bits_between_islands += crosses ? f.body.bits : 0;
  }
  traffic& operator+=(const traffic& other) noexcept {
    frames += other.frames;
    payload_bits += other.payload_bits;
    wire_bits += other.wire_bits;
    bits_between_islands += other.bits_between_islands;
    averaged += other.averaged;
    return *this;
  }
  friend bool operator==(const traffic&, const traffic&) = default;
};

} // namespace gossamer::actors
