#pragma once

#include "gossamer/base/cuda/stream.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <utility>

namespace gossamer::cuda {

/// Memory of a GPU, aligned to 256 bytes, with unspecified contents. It is taken from the driver's pool in the order of
/// the stream and returns in that order: the destructor does not wait, and work queued before it may still use the
/// memory. The pool keeps all memory that it ever had, so a loop that repeats itself allocates nothing.
class device_buffer {
public:
  device_buffer() noexcept = default;
  /// @error errc::failed when the memory does not suffice: says how much was asked for and how much is free
  device_buffer(const stream& s, std::size_t bytes);
  device_buffer(device_buffer&& other) noexcept
      : owner_(std::move(other.owner_)), data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)) {}
  device_buffer& operator=(device_buffer other) noexcept {
    std::swap(owner_, other.owner_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~device_buffer();

  /// An address on the GPU.
  std::byte* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return size_; }
  template <class T>
  T* as() const noexcept {
    return reinterpret_cast<T*>(data_);
  }

private:
  std::optional<stream> owner_;
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

/// The pool of page-locked host memory. Copies to and from GPUs are fast with it and need not wait. Its buffers are
/// used like all others (base/buffer.hpp).
/// @error by `allocate`: errc::failed when the system has no such memory left; says how much was asked for
buffer_pool& pinned_pool();

/// Queues a copy to a GPU. Pinned host memory must stay as it is until that is done (`stream::keep`); other memory may
/// be changed at once.
void upload(const stream& s, std::byte* to, std::span<const std::byte> from);
/// Queues a copy from a GPU, whose result may be read when the stream has been waited for.
void download(const stream& s, std::span<std::byte> to, const std::byte* from);
/// Queues a copy within a GPU.
void copy(const stream& s, std::byte* to, const std::byte* from, std::size_t bytes);
/// Queues the filling with zeros.
void clear(const stream& s, std::byte* from, std::size_t bytes);

} // namespace gossamer::cuda
