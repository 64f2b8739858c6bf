#pragma once

#include "gossamer/actors/data_plane/intake.hpp"
#include "gossamer/actors/data_plane/outbox.hpp"

namespace gossamer::actors {

/// The exchange of two nodes for as long as both live, over any number of connections, one at a time. Every frame that
/// is pushed at one end comes out at the other once, in the order of its lane, wherever connections break.
///
///     apart --begin--> greeting --their hello--> open --lost--> apart
///           --answer-----------------------------^
///
/// A session has no socket and no clock: its owner carries bytes (`room`, `commit`, `gather`, `wrote`), reports when a
/// connection is there or gone, and asks for the `ending` after each commit and answer. Threads: one.
class session {
public:
  enum class phase : std::uint8_t { apart, greeting, open };

  /// The reason to close the connection, once the output of `gather` has been written as far as possible at once.
  struct ending {
    refusal why;
    bool is_final = false; ///< no later connection will be better: the peer is lost
  };

  /// @param mine the sender and the receiver; the session fills in the count of received chunks
  /// @param whose callbacks for the peer's bytes; the session handles acknowledgements itself
  session(const hello& mine, const limits& most, buffer_pool pool, const intake::owner& whose)
      : mine_(mine), out_(most.most_half_frames),
        in_(most, std::move(pool),
            {whose.may_send, whose.deliver, [this](std::uint64_t chunks) { out_.acknowledged(chunks); }}) {}
  session(const session&) = delete;
  session& operator=(const session&) = delete;

  phase now() const noexcept { return phase_; }
  /// True if both ends see the same memory. Requires `open`.
  bool shares_memory() const noexcept { return shares_memory_; }
  /// This end's hello on the present or last connection.
  const hello& own_hello() const noexcept { return mine_; }

  /// Starts on a connection that this end has opened. Requires `apart`.
  /// @param offered place of memory that the peer may use for all later bytes
  void begin(memory_place offered = {});
  /// Starts on a connection that the peer has opened with this hello. Requires `apart`.
  /// @param found the offered memory, if this end sees it
  void answer(const hello& theirs, memory_place found = {});
  /// Notes that the connection is gone.
  void lost();

  void push(std::shared_ptr<const outgoing_frame> f) { out_.push(std::move(f)); }
  /// True if a frame may not have reached the peer: a connection is then needed.
  bool has_frames() const noexcept { return out_.has_frames(); }
  /// Number of chunks that have reached the peer, as far as is known.
  std::uint64_t arrived() const noexcept { return out_.arrived(); }

  std::span<std::byte> room();
  void commit(std::size_t bytes);
  std::span<const outbox::bytes_view> gather() { return out_.gather(); }
  void wrote(std::size_t bytes) { out_.wrote(bytes); }

  /// True if `acknowledge` is due a little later: the session acknowledges by itself only when more bytes come.
  bool owes_acknowledgement() const noexcept { return phase_ == phase::open && in_.owes_acknowledgement(); }
  void acknowledge();

  /// Set when the connection must not go on; until the next one begins.
  const std::optional<ending>& ended() const noexcept { return ending_; }

private:
  void say_hello(memory_place memory);
  void hear(const hello& theirs);
  void refuse(refusal_code code, std::string sentence);

  hello mine_;
  phase phase_ = phase::apart;
  bool shares_memory_ = false;
  written_hello heard_{}; ///< of the peer's hello
  std::size_t heard_bytes_ = 0;
  outbox out_;
  intake in_;
  std::optional<ending> ending_;
};

/// All bytes for a refused peer.
std::vector<std::byte> farewell(const hello& mine, const refusal& why);

} // namespace gossamer::actors
