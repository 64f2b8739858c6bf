#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

namespace gossamer {

class buffer;
class buffer_pool;

namespace detail {
struct pool_core;
struct buffer_block;
} // namespace detail

/// A handle on reference-counted bytes, aligned to 64 bytes (a cache line and the widest SIMD register) unless they are
/// a part of others.
///
/// Copying a handle is O(1) and shares the bytes; the last handle returns them to their pool. A shared buffer must not
/// be written: `unique()` says whether this handle is the only one. Models, gradients and packets travel between actors
/// as such handles, so that a message within one process copies nothing.
///
/// Threads: handles to the same bytes may live in different threads; one handle belongs to one thread at a time.
class buffer {
public:
  static constexpr std::size_t alignment = 64;

  buffer() noexcept = default;
  buffer(const buffer& other) noexcept;
  buffer(buffer&& other) noexcept
      : block_(std::exchange(other.block_, nullptr)), begin_(std::exchange(other.begin_, 0)),
        size_(std::exchange(other.size_, 0)) {}
  buffer& operator=(buffer other) noexcept {
    std::swap(block_, other.block_);
    std::swap(begin_, other.begin_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~buffer();

  std::size_t size() const noexcept { return size_; }
  const std::byte* data() const noexcept;
  std::byte* data() noexcept;
  std::span<const std::byte> bytes() const noexcept { return {data(), size_}; }
  std::span<std::byte> bytes() noexcept { return {data(), size_}; }

  /// True when no other handle shares the bytes, so that they may be written. An empty handle is unique.
  bool unique() const noexcept;
  bool shares_with(const buffer& other) const noexcept { return block_ == other.block_; }

  /// Returns a handle on `size` of these bytes, which keeps all of them. Requires begin + size <= this->size().
  buffer part(std::size_t begin, std::size_t size) const noexcept;
  /// Forgets the bytes behind `size`, which must not exceed the present size.
  void truncate(std::size_t size) noexcept;

  /// The pool that the bytes come from. Requires a handle that is not empty.
  buffer_pool pool() const noexcept;

private:
  friend class buffer_pool;
  buffer(detail::buffer_block* block, std::size_t size) noexcept : block_(block), size_(size) {}

  detail::buffer_block* block_ = nullptr;
  std::size_t begin_ = 0, size_ = 0;
};

/// The allocator behind a pool: plain memory, unless the pool needs another kind.
struct memory_source {
  void* (*allocate)(std::size_t bytes); ///< aligned to `buffer::alignment`; throws when memory runs out
  void (*release)(void* memory) noexcept;
  bool takes_back = false; ///< surplus is released while the pool lives; false: only with the pool
};

/// A store of buffers. Released buffers return to it, so that a training step allocates nothing once it is warm.
///
/// Free blocks are kept in size classes four to a doubling, so at most a quarter of a block is wasted. Blocks that
/// were free all the time while `surplus_after` buffers of their class came back are surplus: they go back to the
/// machine, so that a peer that was late once costs memory for a while, not for good. A pool is a handle: copies share
/// the same store, which lives until the last handle and the last buffer are gone. Threads: safe.
class buffer_pool {
public:
  static constexpr std::size_t surplus_after = 4096;

  buffer_pool();
  explicit buffer_pool(memory_source source);

  /// Bytes with unspecified contents. A size of 0 still yields a handle that knows its pool.
  /// @error std::bad_alloc when the machine has no memory left, or what the pool's source throws
  buffer allocate(std::size_t size);

  /// Number of blocks ever requested from the operating system: constant once the work has warmed up.
  std::size_t blocks_created() const noexcept;
  /// Number of blocks that are there, handed out or free.
  std::size_t blocks_held() const noexcept;
  /// Number of blocks that are handed out at this moment.
  std::size_t blocks_in_use() const noexcept;

private:
  friend class buffer;
  explicit buffer_pool(std::shared_ptr<detail::pool_core> core) noexcept : core_(std::move(core)) {}

  std::shared_ptr<detail::pool_core> core_;
};

} // namespace gossamer
