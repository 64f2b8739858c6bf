#pragma once

namespace gossamer::apps {

/// While it lives, the first SIGINT, SIGTERM or SIGHUP asks the run to stop after its present step; the second of a
/// kind kills as usual. A SIGHUP that was ignored before, as nohup has it, stays ignored.
class clean_stop {
public:
  clean_stop();
  ~clean_stop();
  clean_stop(const clean_stop&) = delete;
  clean_stop& operator=(const clean_stop&) = delete;

  /// The signal that asked; 0 if none did. Threads: safe.
  static int requested() noexcept;
  /// Asks as SIGINT does. Threads: safe.
  static void request() noexcept;
  /// From now on the end of standard input asks as well: whoever started this process is gone, or wants its end, also
  /// from another machine, where no signal gets. That nobody reads its output is no reason to end at once.
  static void follow_input() noexcept;
};

} // namespace gossamer::apps
