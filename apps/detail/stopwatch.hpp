#pragma once

#include <chrono>

namespace gossamer::apps {

/// Real time, for people who wait. No simulation depends on it.
class stopwatch {
public:
  double seconds() const { return std::chrono::duration<double>(now() - began_).count(); }

private:
  static std::chrono::steady_clock::time_point now() { return std::chrono::steady_clock::now(); }

  std::chrono::steady_clock::time_point began_ = now();
};

/// Seconds since 1970, for files whose readers order them by real time.
inline double seconds_since_1970() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

} // namespace gossamer::apps
