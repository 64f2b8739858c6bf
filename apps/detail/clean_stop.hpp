#pragma once

#include <functional>
#include <string>

namespace gossamer {
class error;
}

namespace gossamer::apps {

class program;

/// Makes the first SIGINT, SIGTERM or SIGHUP ask the run to stop after its present step, during the lifetime of this
/// object. The second of a kind kills as usual. A SIGHUP that was ignored before, as nohup has it, stays ignored.
class clean_stop {
public:
  clean_stop();
  ~clean_stop();
  clean_stop(const clean_stop&) = delete;
  clean_stop& operator=(const clean_stop&) = delete;

  /// During the lifetime of this object signals belong to the program around the command; nothing has asked at its
  /// beginning.
  class without_signals {
  public:
    without_signals();
    ~without_signals();
    without_signals(const without_signals&) = delete;
    without_signals& operator=(const without_signals&) = delete;
  };

  /// The signal that asked; 0 if none did. Threads: safe.
  static int requested();
  static bool is_requested() { return requested() != 0; }
  /// Asks as SIGINT does. Threads: safe.
  static void request() noexcept;
  /// Makes the end of standard input ask as well. It tells that the program that started this process is gone or wants
  /// its end, also on another machine, where no signal arrives.
  static void follow_input() noexcept;
  /// From now on, output whose reader has gone is lost, and does not end this process: a run in real time goes on.
  static void outlive_readers() noexcept;
  /// Sets what gets the lines of standard input, where that is followed; empty: nobody does. Called by `requested`.
  static void on_line(std::function<void(const std::string&)> take);
};

/// Says that the command was interrupted. @returns its exit status @error any other error, again
int after_interrupt(const program& p, const error& e);

} // namespace gossamer::apps
