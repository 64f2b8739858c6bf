#pragma once

#include <string>
#include <sys/types.h>

namespace gossamer::apps {

/// The departure of a process from its terminal. It goes on as a new process in a session of its own. The old process,
/// whose end the shell waits for, stays behind to show how the new one begins.
class departure {
public:
  /// Splits this process into two. Requires that no other thread exists. @error errc::io
  departure();
  departure(const departure&) = delete;
  departure& operator=(const departure&) = delete;
  ~departure();

  bool is_left_behind() const noexcept { return other_ > 0; }

  /// Called in the old process. Waits until the new one leaves, and prints its words; passes interrupts on until then.
  /// @returns 0; or the exit status of the new process, when that ends first
  int wait();

  /// Called in the new process. Ends the wait of the old one, which prints the words.
  void leave(const std::string& words);

private:
  pid_t other_ = -1;
  int pipe_ = -1;
};

} // namespace gossamer::apps
