#pragma once

#include <cstdint>
#include <fstream>
#include <sys/resource.h>
#include <unistd.h>

namespace gossamer::test {

/// While it lives, the process may have so many bytes more than it had before.
class little_memory {
public:
  /// False with a sanitizer, which ends the process where memory ends.
#if defined(__has_feature)
  static constexpr bool is_possible = !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer);
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  static constexpr bool is_possible = false;
#else
  static constexpr bool is_possible = true;
#endif

  explicit little_memory(std::uint64_t bytes) {
    std::uint64_t pages = 0;
    std::ifstream{"/proc/self/statm"} >> pages;
    getrlimit(RLIMIT_AS, &before_);
    const rlimit now{pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)) + bytes, before_.rlim_max};
    setrlimit(RLIMIT_AS, &now);
  }
  little_memory(const little_memory&) = delete;
  little_memory& operator=(const little_memory&) = delete;
  ~little_memory() { setrlimit(RLIMIT_AS, &before_); }

private:
  rlimit before_{};
};

} // namespace gossamer::test
