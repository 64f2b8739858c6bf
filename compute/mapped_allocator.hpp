#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

namespace gossamer::compute {

namespace detail {
std::uint64_t half_of_memory() noexcept;
void* map_scratch_file(std::size_t bytes);
void unmap_scratch_file(void* first, std::size_t bytes) noexcept;
void begin_reading(const void* first, std::size_t bytes) noexcept;
} // namespace detail

/// Allocates large blocks in files that are mapped into memory: the kernel writes their pages to the disk and drops
/// them as other memory is needed, and reads them again when they are touched. So a vector may be larger than memory,
/// and is used like any other.
///
/// An allocation of more than `most_in_memory()` bytes has a file of its own in the folder that TMPDIR names, or in
/// /var/tmp; not in /tmp, which is memory on many systems. The file has no name: it is gone with the allocation, and
/// with the process however that ends. All its bytes are reserved on the disk beforehand, so a full disk is an error
/// and not a signal; only file systems that write to new places (btrfs, zfs) cannot promise that. Core dumps leave it
/// out.
///
/// Cost of a mapped allocation: a handful of system calls; disk: its bytes, of which the kernel writes those that are
/// touched, and none when they are freed before. Aligned to a page, others as by `operator new`. Threads: any.
/// @error by `allocate`: errc::io when the folder has no room or no such file, with the size and the folder;
///        std::bad_alloc when memory ends
template <class T>
class mapped_allocator {
public:
  using value_type = T;
  using propagate_on_container_copy_assignment = std::true_type;
  using propagate_on_container_move_assignment = std::true_type;
  using propagate_on_container_swap = std::true_type;

  /// Maps allocations of more than half of this machine's memory.
  mapped_allocator() noexcept : most_in_memory_(detail::half_of_memory()) {}
  /// @param most_in_memory bytes of one allocation; 0: all are mapped; UINT64_MAX: none is
  explicit mapped_allocator(std::uint64_t most_in_memory) noexcept : most_in_memory_(most_in_memory) {}
  template <class Other>
  mapped_allocator(const mapped_allocator<Other>& other) noexcept : most_in_memory_(other.most_in_memory()) {}

  T* allocate(std::size_t count) {
    if (count > SIZE_MAX / sizeof(T))
      throw std::bad_array_new_length{};
    const auto bytes = count * sizeof(T);
    return static_cast<T*>(maps(count) ? detail::map_scratch_file(bytes) : ::operator new(bytes));
  }
  void deallocate(T* first, std::size_t count) noexcept {
    const auto bytes = count * sizeof(T);
    if (maps(count))
      detail::unmap_scratch_file(first, bytes);
    else
      ::operator delete(first);
  }

  std::uint64_t most_in_memory() const noexcept { return most_in_memory_; }
  /// True if an allocation of so many elements is mapped.
  bool maps(std::size_t count) const noexcept { return count * sizeof(T) > most_in_memory_; }
  /// True if one can free what the other has allocated.
  template <class Other>
  bool operator==(const mapped_allocator<Other>& other) const noexcept {
    return most_in_memory_ == other.most_in_memory();
  }

private:
  static_assert(alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);

  std::uint64_t most_in_memory_;
};

/// A vector that may be larger than memory. A full one is copied to a file twice as large when it grows, so reserve a
/// known size.
template <class T>
using large_vector = std::vector<T, mapped_allocator<T>>;

/// Begins to read a part of a vector that is mapped, and does not wait: for parts that are far from each other. Without
/// it each part would be waited for where it is touched, one after the other, and the kernel would read much around
/// each, which may drive needed pages from memory. Does nothing for a part that is in memory already. Cost: a system
/// call.
template <class T>
void begin_reading(const large_vector<T>& v, std::size_t first, std::size_t count) noexcept {
  if (v.get_allocator().maps(v.capacity()))
    detail::begin_reading(v.data() + first, count * sizeof(T));
}

} // namespace gossamer::compute
