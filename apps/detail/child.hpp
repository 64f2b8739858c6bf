#pragma once

#include <functional>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace gossamer::apps {

/// Another program under way, in a process group of its own, so that Ctrl-C reaches this process alone. It is killed
/// when this object, or this process, ends.
class child {
public:
  /// @param with_errors its standard error is read as its standard output is; else it is this process's
  /// @param with_input `write_line` writes to its standard input, which ends with this object; else it is this
  /// process's
  /// @error errc::io when the system refuses to start a process. A program that is not there ends with status 127
  child(const std::vector<std::string>& command, bool with_errors, bool with_input = false);
  child(child&& other) noexcept { swap(other); }
  child& operator=(child&& other) noexcept {
    swap(other); // which kills what it was
    return *this;
  }
  ~child();

  int output() const noexcept { return output_; } ///< to poll; -1 after its end
  /// Reads what is there and hands on whole lines. @returns false when it has written its last
  bool read_lines(const std::function<void(const std::string&)>& on_line);
  const std::string& last_line() const noexcept { return last_line_; }

  /// What has ended does not read it.
  void write_line(const std::string& line) const;
  void send_signal(int signal) const;
  /// The exit status as a shell reports it, once it has ended.
  std::optional<int> ended();

private:
  void swap(child& other) noexcept;

  pid_t id_ = -1;
  int output_ = -1;
  int input_ = -1;
  std::string unfinished_, last_line_;
  std::optional<int> status_;
};

} // namespace gossamer::apps
