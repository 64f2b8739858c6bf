#pragma once

#include <csignal>

namespace gossamer::apps {

/// While it lives, the first SIGINT or SIGTERM asks the run to stop after its present step; the second kills as usual.
class clean_stop {
public:
  clean_stop();
  ~clean_stop();
  clean_stop(const clean_stop&) = delete;
  clean_stop& operator=(const clean_stop&) = delete;

  /// The signal that asked; 0 if none did.
  static int requested() noexcept;
};

} // namespace gossamer::apps
