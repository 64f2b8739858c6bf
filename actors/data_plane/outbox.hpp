#pragma once

#include "gossamer/actors/data_plane/record.hpp"

#include <deque>
#include <map>
#include <memory>

namespace gossamer::actors {

/// A frame on its way to another node: the output of `write`, in two parts.
struct outgoing_frame {
  rank source = 0;
  life to;
  buffer head;
  buffer payload;
  std::shared_ptr<const void> on_the_way = {}; ///< the frame's share of the bytes under way, see under_way.hpp

  std::uint64_t size() const noexcept { return head.size() + payload.size(); }
};

/// The frames and records from one node to another, over any number of successive connections. Frames wait in lanes,
/// one for each pair of source and destination. Lanes take turns, a chunk each, so small frames overtake large ones of
/// other lanes. Chunks are numbered by counting, and kept until the peer has acknowledged them. The next connection
/// repeats the chunks that the peer has not received, the same bytes in the same order. Payloads are never copied.
///
/// An outbox has no socket: `gather` returns the bytes to write next, `wrote` takes the number that was written.
/// Threads: one.
class outbox {
public:
  using bytes_view = std::span<const std::byte>;

  /// @param most_half_frames most unfinished frames on their way: from the `limits` of the peer
  explicit outbox(std::uint64_t most_half_frames) : most_half_frames_(most_half_frames) {}

  void push(std::shared_ptr<const outgoing_frame> f);
  /// Adds a record that is neither numbered nor repeated, before the chunks that have not begun.
  void say(bytes_view control) { control_.insert(control_.end(), control.begin(), control.end()); }

  /// The next bytes, about half a MiB at most; valid until the next call of any function. No chunks before `resume`.
  std::span<const bytes_view> gather();
  /// Notes that the first bytes of the last `gather` were written.
  void wrote(std::size_t bytes);

  /// @param chunks that the peer says have arrived
  /// @error errc::bad_packet if they are more than have been written
  void acknowledged(std::uint64_t chunks);

  /// Notes that the connection is gone, with all unwritten bytes.
  void lost();
  /// Notes a new connection, and the number of chunks that the peer has received over earlier ones.
  /// @error errc::bad_packet if they are more than were sent, or fewer than the peer has acknowledged
  void resume(std::uint64_t received);

  /// Number of chunks that have arrived, as far as is known.
  std::uint64_t arrived() const noexcept { return acknowledged_; }
  /// True if a frame has not been acknowledged in full.
  bool has_frames() const noexcept { return !kept_.empty() || !lanes_.empty(); }
  bool has_control() const noexcept { return !control_.empty(); }

private:
  struct chunk {
    chunk_record_head head;
    std::shared_ptr<const outgoing_frame> whole;
    std::uint64_t begin;
    std::uint64_t size;

    std::uint64_t record_bytes() const noexcept { return head.size() + size; }
  };
  struct lane {
    std::deque<std::shared_ptr<const outgoing_frame>> frames;
    std::uint64_t cut = 0; ///< bytes of the first frame that are already in chunks
  };
  using lanes = std::map<std::pair<rank, life>, lane>;

  bool cut();
  bool may_be_cut(const lane& l) const noexcept;
  void add(bytes_view bytes, std::uint64_t from);
  void add(const chunk& c, std::uint64_t from);
  void forget(std::uint64_t until);

  std::uint64_t most_half_frames_;
  lanes lanes_;
  std::deque<lanes::iterator> turns_;
  std::uint64_t half_frames_ = 0;

  std::deque<chunk> kept_;
  std::uint64_t acknowledged_ = 0; ///< chunks before the first kept one
  bool open_ = false;
  std::size_t writing_ = 0;   ///< index of the chunk being written
  std::uint64_t written_ = 0; ///< bytes of its record
  std::vector<std::byte> control_;

  std::vector<bytes_view> gathered_;
  std::uint64_t gathered_bytes_ = 0;
};

} // namespace gossamer::actors
