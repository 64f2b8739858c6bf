#pragma once

#include <string>
#include <sys/types.h>

namespace gossamer::apps {

/// A process leaves its terminal: it goes on as a new one in a session of its own, and the old one, whose end the shell
/// waits for, is left behind to show how that began.
class departure {
public:
  /// There are two processes from here on. Requires that no other thread exists. @error errc::io
  departure();
  departure(const departure&) = delete;
  departure& operator=(const departure&) = delete;
  ~departure();

  bool is_left_behind() const noexcept { return other_ > 0; }

  /// In the old process: waits until the new one leaves, and prints its words; passes interrupts on until then.
  /// @returns 0; or the exit status of the new one, when that ends first
  int wait();

  /// In the new process.
  void leave(const std::string& words);

private:
  pid_t other_ = -1;
  int pipe_ = -1;
};

} // namespace gossamer::apps
