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

} // namespace gossamer::apps
