#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace gossamer::actors {

/// The name of a lane: random, so that only its two ends know it.
using lane_id = std::array<std::byte, 16>;

/// The first bytes that each end of a lane sends on each of its connections. Layout: docs/wire-format.md.
struct lane_hello {
  lane_id id{};
  std::uint64_t received = 0; ///< bytes that have come over all connections of the lane
  bool goes_on = false;       ///< it has had a connection before

  friend bool operator==(const lane_hello&, const lane_hello&) = default;
};

inline constexpr std::size_t lane_hello_bytes = 32;
using written_lane_hello = std::array<std::byte, lane_hello_bytes>;

written_lane_hello write(const lane_hello& h) noexcept;
/// @returns `nullopt` if the bytes are no hello of this version
std::optional<lane_hello> read_lane_hello(std::span<const std::byte, lane_hello_bytes> bytes) noexcept;

/// One end of a lane: bytes in both directions for as long as both ends live, over any number of connections, one at a
/// time. Every byte that is pushed at one end comes out at the other once, in order, wherever connections break: each
/// end keeps what the other has not acknowledged, and sends it again.
///
///     apart --begin--> greeting --hear--> open --lost--> apart
///
/// A connection carries a hello, then records: a header of 12 bytes, with the count of bytes and of those that were
/// received, and the bytes; and a record with the port of the sender's door. A session has no socket and no clock.
/// Costs: 12 bytes for up to 64 KiB, and memory for what is under way. Threads: one.
class lane_session {
public:
  static constexpr std::size_t longest_record = 64 << 10;
  static constexpr std::size_t most_kept = 64 << 20; ///< bytes of this end that the other has not acknowledged
  static constexpr std::size_t acknowledge_after = 16 << 10;

  explicit lane_session(const lane_id& id) : id_(id) {}

  const lane_id& id() const noexcept { return id_; }

  /// Starts on a connection: the hello is the first to be gathered. Requires `apart`.
  void begin();
  /// Takes in the peer's hello. Nothing but the hello goes out before.
  /// @returns false if the peer cannot be the other end of this lane
  bool hear(const lane_hello& theirs);
  /// Notes that the connection is gone.
  void lost();

  // -- out ------------------------------------------------------------------------------------------------------------

  /// False while the connection has enough to carry, or the peer acknowledges nothing.
  bool has_room() const noexcept { return kept() - sent_ < longest_record && kept() < most_kept; }
  void push(std::span<const std::byte> bytes);
  /// Tells the peer, on each connection, at which port this process accepts lanes: it can find out there if this
  /// process lives.
  void tell_door(std::uint16_t port) noexcept { door_ = port; }
  /// Sends a record without bytes.
  void give_sign() noexcept { sign_due_ = true; }
  /// Ends the lane behind all that was pushed.
  void finish() noexcept { finishing_ = true; }
  /// Returns the next bytes for the connection, which `wrote` takes off; empty if there are none.
  std::array<std::span<const std::byte>, 2> gather();
  void wrote(std::size_t bytes);
  /// True once the end of the lane has been written.
  bool has_finished() const noexcept { return said_end_ && head_left() == 0; }

  // -- in -------------------------------------------------------------------------------------------------------------

  /// Takes records off the front of what has come behind the hello.
  /// @param to gets the payload @returns the bytes of payload
  std::size_t take(std::span<const std::byte>& come, std::span<std::byte> to);
  /// The peer's fault that ends the lane, worded to follow its name.
  const std::optional<std::string>& objection() const noexcept { return objection_; }
  /// The port where the peer accepts lanes; 0 if it has told none.
  std::uint16_t peer_door() const noexcept { return peer_door_; }
  /// True once the peer has said that nothing more comes.
  bool peer_has_finished() const noexcept { return peer_finished_; }

private:
  static constexpr std::size_t header_bytes = 12;
  static constexpr std::uint32_t end_of_lane = 0xffffffff; ///< in place of a count
  static constexpr std::uint32_t door_of_end = 0xfffffffe; ///< the same; a port takes the other's place

  std::size_t kept() const noexcept { return kept_.size() - done_; }
  std::size_t head_left() const noexcept { return head_end_ - head_begin_; }
  void write_header(std::uint32_t count, std::uint64_t number);
  void begin_record(std::uint32_t count);
  void read_header();
  bool acknowledged(std::uint64_t received);

  lane_id id_;
  bool open_ = false, was_open_ = false;

  std::vector<std::byte> kept_;                    ///< what was pushed and is not acknowledged,
  std::size_t done_ = 0;                           ///< behind bytes that are
  std::uint64_t before_ = 0;                       ///< bytes that have been acknowledged, of all
  std::size_t sent_ = 0;                           ///< on this connection, of those kept
  std::size_t record_left_ = 0;                    ///< of the record that is being written
  std::array<std::byte, lane_hello_bytes> head_{}; ///< the hello, or a header
  std::size_t head_begin_ = 0, head_end_ = 0;
  bool finishing_ = false, said_end_ = false, sign_due_ = false;
  std::uint16_t door_ = 0, door_told_ = 0; ///< on this connection

  std::uint64_t received_ = 0, told_ = 0; ///< `told_` have been acknowledged
  std::array<std::byte, header_bytes> header_{};
  std::size_t header_come_ = 0, payload_left_ = 0;
  bool peer_finished_ = false;
  std::uint16_t peer_door_ = 0;
  std::optional<std::string> objection_;
};

} // namespace gossamer::actors
