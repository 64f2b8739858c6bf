#pragma once

#include "gossamer/actors/data_plane/control_guard.hpp"
#include "gossamer/actors/data_plane/detail/alarm.hpp"
#include "gossamer/actors/data_plane/detail/silence.hpp"
#include "gossamer/actors/data_plane/detail/stream.hpp"
#include "gossamer/actors/data_plane/lane_session.hpp"

#include <array>
#include <asio/local/stream_protocol.hpp>
#include <functional>
#include <optional>

namespace gossamer::actors::detail {

/// One connection of a tunnel: streams to another process, one at a time, and a local socket. The lane ends before
/// bytes of the other process that are not control messages reach the local socket.
///
/// A stream that breaks is no end. The end that has opened the lane connects again, at once: a process that has ended
/// refuses that. The other end waits for it, but not where the stream was closed, as it is when a process ends.
/// Threads: that of its context.
class lane : public std::enable_shared_from_this<lane> {
public:
  struct ending {
    std::string why;         ///< empty: none
    bool is_refused = false; ///< the peer asks for other credentials
    bool is_silence = false; ///< nothing was heard of the peer, which may live
    bool is_lack = false;    ///< this process may open no more files
  };
  struct owner {
    std::chrono::milliseconds longest_break;  ///< between two streams
    std::function<void(int)> opened;          ///< gets the local end
    std::function<void(const ending&)> ended; ///< forgets the lane
    /// Opens another stream, for `resume`: at once, or after a pause. Empty: the peer does.
    std::function<void(bool at_once)> connect_again;
    /// Ends a lane that the peer has opened, if its process has ended: nothing listens at its door then.
    std::function<void(const stream::tcp::endpoint& door)> look_for_peer;
    /// Returns the lane of this name that the peer has opened; null if there is none.
    std::function<std::shared_ptr<lane>(const lane_id&)> find;
  };

  /// @param most_message bytes of a control message behind its header
  lane(asio::io_context& io, std::unique_ptr<stream> far, std::uint64_t most_message, owner whose);

  stream& far() noexcept { return *far_; }
  /// Ends the lane if the peer has not introduced itself in this time.
  void expect(std::chrono::milliseconds patience);
  /// Moves bytes, over a connected stream, until one end is gone.
  void begin();
  /// Goes on over another stream. @param theirs the peer's hello, if it has come already
  void resume(std::unique_ptr<stream> far, const std::optional<lane_hello>& theirs);
  /// Tells the peer of a lane that this process has opened where it accepts others. @param door a port
  void tell_door(std::uint16_t door);
  void end(const std::string& why);
  /// As `end`, where the peer may live: nothing is heard of it.
  void give_up(const std::string& why);
  bool is_open() const noexcept { return near_.is_open(); }
  /// True while a peer that has opened the lane has not introduced itself.
  bool is_guest() const noexcept { return !opens() && !is_open(); }
  /// True until this process has first reached a peer to which it opens the lane.
  bool is_attempt() const noexcept { return opens() && !is_open(); }
  /// True while no stream carries the lane.
  bool is_apart() const noexcept { return far_ == nullptr; }
  /// True for an open lane of this name that the peer has opened.
  bool is_of_peer(const lane_id& id) const { return !opens() && is_open() && session_.id() == id; }

private:
  /// Bytes on their way.
  struct cargo {
    std::array<std::byte, 64 << 10> bytes;
    std::size_t begin = 0, end = 0;

    bool empty() const noexcept { return begin == end; }
    std::span<const std::byte> left() const noexcept { return std::span{bytes}.subspan(begin, end - begin); }
    void hold(std::size_t count) noexcept {
      begin = 0;
      end = count;
    }
  };

  bool opens() const noexcept { return owner_.connect_again != nullptr; }
  void close(const ending& how);
  void watch();
  bool is_silent();
  void advance();
  bool greet();
  bool hear(const lane_hello& theirs);
  bool open();
  bool move();
  void receive();
  void hand_in();
  void take_out();
  bool send();
  void part();
  void note(const transfer& t) noexcept;
  void wait(std::size_t which, std::function<void(std::function<void()>)> how);
  void wait_for_more();
  void wait_to_read();
  void wait_to_write();

  asio::io_context& io_;
  std::unique_ptr<stream> far_; ///< null between two streams
  asio::local::stream_protocol::socket near_;
  alarm patience_, look_;
  control_guard guard_; ///< of incoming bytes
  owner owner_;
  lane_session session_;
  asio::ip::address peer_; ///< of the last stream
  cargo come_;             ///< from the stream: records
  cargo in_;               ///< for the local socket
  written_lane_hello hello_{};
  std::size_t hello_come_ = 0;
  bool has_begun_ = false, greeted_ = false; ///< on this stream
  bool far_gone_ = false, broken_ = false, near_gone_ = false, far_waits_ = false, ended_ = false;
  bool has_sent_ = false;   ///< since the last sign of life
  bool is_silence_ = false; ///< that has ended the last stream
  silence silence_;         ///< of a stream that this end has opened
  silence::time heard_;     ///< time of the last bytes
  std::array<bool, 5> waits_{};
};

} // namespace gossamer::actors::detail
