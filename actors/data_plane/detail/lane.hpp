#pragma once

#include "gossamer/actors/data_plane/control_guard.hpp"
#include "gossamer/actors/data_plane/detail/alarm.hpp"
#include "gossamer/actors/data_plane/detail/stream.hpp"

#include <array>
#include <asio/local/stream_protocol.hpp>
#include <functional>

namespace gossamer::actors::detail {

/// One connection of a tunnel: a stream to another process, and a local socket. The lane ends before bytes of the
/// stream that are not control messages reach the local socket. Threads: that of its context.
class lane : public std::enable_shared_from_this<lane> {
public:
  struct owner {
    std::function<void(int)> opened; ///< gets the local end
    /// Gets the reason, or an empty text if there is none; forgets the lane.
    std::function<void(const std::string& why, bool is_refused)> ended;
  };

  /// @param most_message bytes of a control message behind its header
  lane(asio::io_context& io, std::unique_ptr<stream> far, std::uint64_t most_message, owner whose)
      : io_(io), far_(std::move(far)), near_(io), patience_(io), guard_(most_message), owner_(std::move(whose)) {}

  stream& far() noexcept { return *far_; }
  /// Ends the lane if the peer has not shown its credentials in this time.
  void expect(std::chrono::milliseconds patience);
  /// Moves bytes, over a connected stream, until one end is gone.
  void begin();
  void end(const std::string& why);
  bool is_open() const noexcept { return near_.is_open(); }

private:
  /// Bytes on their way in one direction.
  struct cargo {
    std::array<std::byte, 64 << 10> bytes;
    std::size_t begin = 0, end = 0;

    bool empty() const noexcept { return begin == end; }
    std::span<const std::byte> left() const noexcept { return std::span{bytes}.subspan(begin, end - begin); }
    /// Asks for more if it is empty. @returns whether bytes have come; sets `gone` if none ever will
    template <class Source>
    bool fill(Source source, bool& gone) {
      if (!empty() || gone)
        return false;
      const transfer got = source(std::span{bytes});
      begin = 0;
      end = got.bytes;
      gone = got.gone;
      return got.bytes > 0;
    }
  };

  void advance();
  bool open();
  bool move();
  bool take_in();
  void wait(std::size_t which, std::function<void(std::function<void()>)> how);
  void wait_for_more();

  asio::io_context& io_;
  std::unique_ptr<stream> far_;
  asio::local::stream_protocol::socket near_;
  alarm patience_;
  control_guard guard_; ///< of incoming bytes
  owner owner_;
  cargo in_, out_; ///< from the other process, and to it
  bool far_gone_ = false, near_gone_ = false, far_waits_ = false, ended_ = false;
  std::array<bool, 5> waits_{};
};

} // namespace gossamer::actors::detail
