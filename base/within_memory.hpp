#pragma once

#include <cstdint>
#include <new>
#include <stdexcept>
#include <string_view>
#include <unistd.h>

namespace gossamer {

namespace detail {
[[noreturn]] void memory_ended(std::string_view doing, std::string_view remedy);
}

/// Bytes of memory of this machine, used or not.
inline std::uint64_t physical_memory() noexcept {
  return static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(sysconf(_SC_PAGE_SIZE));
}

/// Returns the result of `work`. If memory runs out, the error says during what, and what to do.
/// @param doing "reading 'rows.csv'"
/// @error errc::io when memory runs out; errors of `work`
template <class Work>
auto within_memory(std::string_view doing, std::string_view remedy, Work&& work) -> decltype(work()) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    detail::memory_ended(doing, remedy);
  } catch (const std::length_error&) { // more elements than an address space holds
    detail::memory_ended(doing, remedy);
  }
}

} // namespace gossamer
