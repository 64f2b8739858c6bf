#pragma once

#include <csignal>
#include <sys/resource.h>

namespace gossamer::test {

/// Limits all files of this process to this number of bytes, as a full disk does.
class full_disk {
public:
  explicit full_disk(rlim_t bytes) : signal_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit now{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &now);
  }
  full_disk(const full_disk&) = delete;
  full_disk& operator=(const full_disk&) = delete;
  ~full_disk() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, signal_);
  }

private:
  rlimit before_{};
  void (*signal_)(int);
};

} // namespace gossamer::test
