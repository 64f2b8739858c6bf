#pragma once

#include "gossamer/actors/data_plane/hello.hpp"
#include "gossamer/actors/data_plane/limits.hpp"
#include "gossamer/actors/data_plane/record.hpp"

#include <functional>
#include <map>

namespace gossamer::actors {

/// Assembles the frames that one node sends to another, over any number of successive connections; the counterpart of
/// `outbox`. The bytes are not trusted: every value is checked before memory is taken for it.
///
/// An intake has no socket: `room` returns the place for the next bytes, `commit` takes the number that came. Long
/// payloads are read in place, all else through a stage. Threads: one.
class intake {
public:
  /// Callbacks for the effects of a peer's bytes.
  struct owner {
    std::function<bool(rank)> may_send; ///< true if frames of this source may come from this peer
    std::function<void(life to, frame)> deliver;
    std::function<void(std::uint64_t)> acknowledged = nullptr; ///< number of own chunks that have arrived at the peer
  };

  intake(const limits& most, buffer_pool pool, owner whose);

  /// The place for the next bytes. Never empty; at most a chunk.
  std::span<std::byte> room();
  /// Takes bytes that were put into the room, and hands on the frames that are now complete.
  /// @error errc::bad_packet with the rule that was broken: commit nothing after it
  void commit(std::size_t bytes);
  /// Notes that the connection is gone. The chunk under way comes again; frames keep the whole chunks that they have.
  void lost();

  /// Chunks that have arrived as a whole, over all connections.
  std::uint64_t received() const noexcept { return received_; }
  /// True if chunks have arrived that the peer has not been told of.
  bool owes_acknowledgement() const noexcept { return told_ < received_; }
  /// True if an acknowledgement is due: after 64 chunks or 1 MiB. When the peer falls silent, ask
  /// `owes_acknowledgement` after a while for the rest.
  bool must_acknowledge() const noexcept;
  /// Notes that the peer is told of all arrived chunks.
  void acknowledge() noexcept;

  /// The peer's refusal of the connection; no bytes behind it are read.
  const std::optional<refusal>& refused() const noexcept { return refused_; }

private:
  struct half_frame {
    arriving_frame frame;
    std::uint64_t head_bytes;
    std::uint64_t filled = 0; ///< by whole chunks, which begin with the head

    std::uint64_t bytes() const noexcept { return head_bytes + frame.content.body.payload.size(); }
  };
  using half_frames = std::map<std::pair<rank, life>, half_frame>;

  bool step();
  bool begin_record();
  bool begin_chunk(std::uint64_t body);
  bool read_control(record_kind kind, std::uint64_t body);
  void check(const chunk_head& c, std::uint64_t size) const;
  std::span<std::byte> missing_of_chunk();
  void end_chunk();
  void arrived(std::uint64_t bytes);
  std::span<const std::byte> staged() const noexcept { return std::span{stage_}.subspan(begin_, end_ - begin_); }

  limits most_;
  buffer_pool pool_;
  owner owner_;
  half_frames halves_;

  std::vector<std::byte> stage_;
  std::size_t begin_ = 0, end_ = 0; ///< of the unused bytes in the stage

  half_frames::iterator target_ = halves_.end(); ///< the frame of the chunk under way
  std::uint64_t chunk_bytes_ = 0, chunk_filled_ = 0;

  std::uint64_t received_ = 0, told_ = 0, bytes_since_told_ = 0;
  std::optional<refusal> refused_;
};

} // namespace gossamer::actors
