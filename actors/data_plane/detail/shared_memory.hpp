#pragma once

#include "gossamer/actors/data_plane/detail/byte_ring.hpp"
#include "gossamer/actors/data_plane/hello.hpp"

#include <memory>

namespace gossamer::actors::detail {

/// Memory that two processes of one machine and one user see: two rings, one for each direction. Who opens a connection
/// makes it and says in its hello where it is; it begins with that hello, by which the other knows that it has found
/// the right one. It cannot shrink, and is gone with the last of the two. Threads: one.
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

  byte_ring to_opener() const noexcept;
  byte_ring from_opener() const noexcept;

private:
  struct layout;
  shared_memory(int file, layout* where) noexcept : file_(file), where_(where) {}
  static std::unique_ptr<shared_memory> mapped(int file);

  int file_;
  layout* where_;
};

} // namespace gossamer::actors::detail
