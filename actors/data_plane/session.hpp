#pragma once

#include "gossamer/actors/data_plane/intake.hpp"
#include "gossamer/actors/data_plane/outbox.hpp"

namespace gossamer::actors {

/// What two nodes have with each other for as long as both live, over any number of connections, one at a time: every
/// frame that is pushed at one end comes out at the other once, in the order of its lane, wherever connections break.
///
///     apart --begin--> greeting --their hello--> open --lost--> apart
///           --answer-----------------------------^
///
/// It knows no socket and no clock: its owner carries bytes (`room`, `commit`, `gather`, `wrote`), says when a
/// connection is there or gone, and asks for the `ending` after each commit and answer. Threads: one.
class session {
public:
  enum class phase : std::uint8_t { apart, greeting, open };

  /// Why the connection is to be closed, once what `gather` gives has been written as far as possible at once.
  struct ending {
    refusal why;
    bool is_final = false; ///< no later connection will be better: the peer is lost
  };

  /// @param mine who speaks to whom; what it has received is filled in
  /// @param whose what follows from the peer's bytes; acknowledgements are the session's own affair
  session(const hello& mine, const limits& most, buffer_pool pool, const intake::owner& whose)
      : mine_(mine), out_(most.most_half_frames),
        in_(most, std::move(pool),
            {whose.may_send, whose.deliver, [this](std::uint64_t chunks) { out_.acknowledged(chunks); }}) {}
  session(const session&) = delete;
  session& operator=(const session&) = delete;

  phase now() const noexcept { return phase_; }
  /// Whether both ends see the same memory. Requires `open`.
  bool shares_memory() const noexcept { return shares_memory_; }
  /// What is, or was, said on this connection.
  const hello& own_hello() const noexcept { return mine_; }

  /// A connection that this end opened is up. Requires `apart`.
  /// @param offered where the peer may find memory for what follows
  void begin(memory_place offered = {});
  /// The peer has opened a connection, and said this. Requires `apart`.
  /// @param found the memory that it offers, where this end sees it
  void answer(const hello& theirs, memory_place found = {});
  /// The connection is gone.
  void lost();

  void push(std::shared_ptr<const outgoing_frame> f) { out_.push(std::move(f)); }
  /// Whether a frame has not reached the peer for certain: then there has to be a connection.
  bool has_frames() const noexcept { return out_.has_frames(); }

  std::span<std::byte> room();
  void commit(std::size_t bytes);
  std::span<const outbox::bytes_view> gather() { return out_.gather(); }
  void wrote(std::size_t bytes) { out_.wrote(bytes); }

  /// Whether to call `acknowledge` a little later: no more may come that would make the session do it by itself.
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

/// All that is said to who may not stay.
std::vector<std::byte> farewell(const hello& mine, const refusal& why);

} // namespace gossamer::actors
