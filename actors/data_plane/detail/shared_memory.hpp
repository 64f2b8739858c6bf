#pragma once

#include "gossamer/actors/data_plane/detail/byte_ring.hpp"
#include "gossamer/actors/data_plane/detail/descriptor.hpp"
#include "gossamer/actors/data_plane/hello.hpp"

#include <array>
#include <memory>

namespace gossamer::actors::detail {

/// Memory that two processes of one machine and one user see: two rings, one for each direction, and beside each a pipe
/// by which its ends call each other. Who opens a connection makes it and says in its hello where it is; it begins with
/// that hello, by which the other knows that it has found the right one. It cannot shrink, and is gone with the last of
/// the two. Threads: one.
class shared_memory {
public:
  /// @returns null where the system has none to give
  static std::unique_ptr<shared_memory> make();
  /// That of another process. @returns null when it cannot be found, or is not that of this hello
  static std::unique_ptr<shared_memory> of(const hello& theirs);

  shared_memory(const shared_memory&) = delete;
  shared_memory& operator=(const shared_memory&) = delete;
  ~shared_memory();

  memory_place place() const noexcept;
  /// The hello that tells of it.
  void belongs_to(const hello& mine) noexcept;
  /// The other one has it: from now on the end of one is seen by the other.
  void was_found() noexcept { for_the_other_ = {}; }

  byte_ring in() const noexcept;
  byte_ring out() const noexcept;
  /// What can be read of this says that the other one calls; its end, that the other one is gone.
  descriptor take_calls() noexcept { return std::move(calls_); }
  /// Raises SIGPIPE in the thread when the other one is gone. When there are many unheard calls, this is not one more.
  void call() noexcept;

private:
  struct layout;
  shared_memory(descriptor file, layout* where, bool is_mine) noexcept
      : file_(std::move(file)), where_(where), is_mine_(is_mine) {}
  static std::unique_ptr<shared_memory> mapped(descriptor file, bool is_mine);
  bool make_pipes();
  bool open_pipes(std::uint32_t process);

  descriptor file_, calls_, caller_;
  std::array<descriptor, 2> for_the_other_; ///< what it reads, what it writes
  layout* where_;
  bool is_mine_;
};

} // namespace gossamer::actors::detail
