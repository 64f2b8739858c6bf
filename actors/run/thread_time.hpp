#pragma once

#include <chrono>
#include <ctime>

namespace gossamer::actors {

/// Processor time of this thread. Unlike wall time, it does not grow while other threads hold the core.
inline std::chrono::duration<double> thread_time() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return std::chrono::duration<double>{static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec)};
}

} // namespace gossamer::actors
