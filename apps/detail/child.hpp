#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace gossamer::apps {

/// Another program under way, in a process group of its own, so that Ctrl-C reaches this process alone. It is killed
/// when this object, or this process, ends. Its output is read here. Its standard input is a socket that ends with this
/// process, even if the program has handed it on.
class child {
public:
  /// @param error true if the line came from standard error
  using line_taker = std::function<void(bool error, const std::string& line)>;

  /// @error errc::io when the system refuses to start a process. A missing program ends with status 127
  explicit child(const std::vector<std::string>& command);
  child(child&& other) noexcept { swap(other); }
  child& operator=(child&& other) noexcept {
    swap(other); // the former program is killed
    return *this;
  }
  ~child();

  /// Standard output and standard error, to poll; -1 after their ends.
  std::array<int, 2> outputs() const noexcept { return {streams_[0].file, streams_[1].file}; }
  /// Reads the output that is there, without waiting, and hands on whole lines; those of more than 64 KiB in pieces.
  /// @returns whether there was any: a program that has ended and gives nothing will give nothing any more
  bool read_lines(const line_taker& on_line);
  const std::string& last_line() const noexcept { return last_line_; }

  /// Writes a line to the program's standard input, or what is left of it at the next `read_lines`, without waiting. A
  /// program that has ended does not read it. @returns false if more than 1 MiB would wait: the line is left out
  bool write_line(const std::string& line);
  void end_input();
  void send_signal(int signal) const;
  /// Waits for its end. @returns the exit status as a shell reports it
  int wait();
  /// The exit status as a shell reports it, once it has ended.
  std::optional<int> ended();

private:
  struct stream {
    int file = -1;
    std::string unfinished = {};
  };

  bool read_from(stream& from, bool error, const line_taker& on_line);
  void swap(child& other) noexcept;
  void look_for_end(int options);
  void write_unread();

  pid_t id_ = -1;
  int input_ = -1;
  std::string unread_;
  std::array<stream, 2> streams_;
  std::string last_line_;
  std::optional<int> status_;
};

} // namespace gossamer::apps
