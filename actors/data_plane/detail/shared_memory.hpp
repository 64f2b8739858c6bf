#pragma once

#include "gossamer/actors/data_plane/detail/byte_ring.hpp"
#include "gossamer/actors/data_plane/detail/descriptor.hpp"
#include "gossamer/actors/data_plane/hello.hpp"

#include <array>
#include <memory>

namespace gossamer::actors::detail {

/// Memory that two processes of one machine and one user see: two rings, one for each direction, and beside each a pipe
/// by which its ends call each other. The process that opens a connection makes the memory and gives its place in the
/// hello. The memory begins with that hello, by which the peer checks that it has found the right one. It cannot
/// shrink, and is gone with the last of the two processes. Threads: one.
class shared_memory {
public:
  /// @returns null if the system has none to give
  static std::unique_ptr<shared_memory> make();
  /// Opens the memory of another process. @returns null if it cannot be found, or does not begin with this hello
  static std::unique_ptr<shared_memory> of(const hello& theirs);

  shared_memory(const shared_memory&) = delete;
  shared_memory& operator=(const shared_memory&) = delete;
  ~shared_memory();

  memory_place place() const noexcept;
  /// Writes the hello that gives the place of this memory.
  void belongs_to(const hello& mine) noexcept;
  /// Notes that the peer has opened the memory: from now on each process sees the end of the other one.
  void was_found() noexcept { for_the_other_ = {}; }

  byte_ring in() const noexcept;
  byte_ring out() const noexcept;
  /// Bytes that can be read from it are calls of the peer; its end means that the peer is gone.
  descriptor take_calls() noexcept { return std::move(calls_); }
  /// Raises SIGPIPE in the thread if the peer is gone. Adds no call while many are unheard.
  void call() noexcept;

private:
  struct layout;
  shared_memory(descriptor file, layout* where, bool is_mine) noexcept
      : file_(std::move(file)), where_(where), is_mine_(is_mine) {}
  static std::unique_ptr<shared_memory> mapped(descriptor file, bool is_mine);
  bool make_pipes();
  bool open_pipes(std::uint32_t process);

  descriptor file_, calls_, caller_;
  std::array<descriptor, 2> for_the_other_; ///< the peer's ends: for reading, for writing
  layout* where_;
  bool is_mine_;
};

} // namespace gossamer::actors::detail
