#include "support/count_allocations.hpp"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {
std::atomic<std::size_t> count{0};
}

namespace gossamer::support {
std::size_t allocations() noexcept { return count; }
} // namespace gossamer::support

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define COUNTS_MALLOC 1
#else
#define COUNTS_MALLOC 0
#endif
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#undef COUNTS_MALLOC
#define COUNTS_MALLOC 0
#endif
#endif

#if COUNTS_MALLOC

// glibc keeps its own malloc under this name. Operator new and Eigen both end in malloc.
extern "C" void* __libc_malloc(std::size_t size); // NOLINT(bugprone-reserved-identifier)
extern "C" void* malloc(std::size_t size) {
  ++count;
  return __libc_malloc(size);
}

#else

void* operator new(std::size_t size) {
  ++count;
  if (void* memory = std::malloc(size))
    return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

#endif
