#pragma once

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
  memory_stream(std::shared_ptr<stream> before, std::unique_ptr<shared_memory> memory, side whose);

  tcp::socket& socket() noexcept override { return before_->socket(); }
  void wait_to_read(waiter then) override;
  void wait_to_write(waiter then) override;
  transfer read_some(std::span<std::byte> to) override;
  transfer write_some(pieces what) override;
  bool has_unread() noexcept override { return !in_.wait_for_bytes(); }
  compress::guard guards() const noexcept override { return compress::guard::carrier; }

private:
  transfer write_before(pieces what);
  std::optional<std::size_t> write_to_memory(pieces what);
  bool is_over();
  transfer distrust();

  std::shared_ptr<stream> before_;
  std::unique_ptr<shared_memory> memory_;
  byte_ring in_, out_;
  asio::posix::stream_descriptor calls_;
  std::size_t still_before_; ///< bytes still to be written to the stream before
};

} // namespace gossamer::actors::detail
