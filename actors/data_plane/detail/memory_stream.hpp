#pragma once

#include "gossamer/actors/data_plane/detail/memory_watch.hpp"
#include "gossamer/actors/data_plane/detail/shared_memory.hpp"
#include "gossamer/actors/data_plane/detail/stream.hpp"

#include <asio/posix/stream_descriptor.hpp>

namespace gossamer::actors::detail {

/// The bytes of a connection within one machine, through memory that both ends see. The socket stays open, and carries
/// only the answer to the hello.
class memory_stream final : public stream {
public:
  enum class side : std::uint8_t { opened, accepted };

  /// @param before the stream that has carried the connection so far; on the accepting side it still carries the first
  ///        `hello_bytes`
  /// @param watch looks for bytes to read, and outlives the stream
  memory_stream(std::shared_ptr<stream> before, std::unique_ptr<shared_memory> memory, side whose, memory_watch& watch);
  ~memory_stream() override;

  tcp::socket& socket() noexcept override { return before_->socket(); }
  void wait_to_read(waiter then) override;
  void wait_to_write(waiter then) override;
  transfer read_some(std::span<std::byte> to) override;
  transfer write_some(pieces what) override;
  bool has_unread() noexcept override { return reader_->is_called || in_.has_bytes(); }
  compress::guard guards() const noexcept override { return compress::guard::carrier; }

  /// Lets the reader go on if it waits and there are bytes. @returns whether it does
  bool look();
  /// Asks the far end for a call when there are bytes, if the reader waits for them.
  void ask_for_call();

private:
  /// Outlives the stream, for a call that is heard later.
  struct reader {
    waiter then; ///< empty if it does not wait
    bool is_called = false;
    void go_on() {
      if (const auto now = std::exchange(then, nullptr))
        now();
    }
  };

  void listen();
  transfer write_before(pieces what);
  std::optional<std::size_t> write_to_memory(pieces what);
  bool hear();
  transfer distrust();

  std::shared_ptr<stream> before_;
  std::unique_ptr<shared_memory> memory_;
  byte_ring in_, out_;
  asio::posix::stream_descriptor calls_;
  memory_watch& watch_;
  std::shared_ptr<reader> reader_ = std::make_shared<reader>();
  std::size_t still_before_; ///< bytes still to be written to the stream before
};

} // namespace gossamer::actors::detail
