#pragma once

#include "gossamer/actors/telemetry/record.hpp"

namespace gossamer::apps {

/// A line on standard error that is written over; nothing where that is no terminal. Where that is narrow, the last
/// parts of the line, which two spaces separate, are left out: a line that is broken could not be written over.
class live_line {
public:
  live_line() = default;
  live_line(const live_line&) = delete;
  live_line& operator=(const live_line&) = delete;
  ~live_line();
  void show(const std::string& text);
  /// Before anything else is written.
  void clear();

  /// Whether there is a terminal.
  static bool is_seen();

private:
  bool seen_ = is_seen();
  bool open_ = false;
};

/// As many parts of a line as fit in so many columns, at least one, which may be cut.
std::string fitted(std::string line, std::size_t columns);

/// How far a run is, for people, in one line, with what matters most in front.
std::string progress_line(const actors::progress_record& p);

/// Shows a run on standard error: one line that lives, on a terminal; otherwise one plain line for each evaluation.
class progress final : public actors::run_observer {
public:
  void on_progress(const actors::progress_record& p) override;
  void on_evaluation(const actors::evaluation_record& r) override;
  void on_event(double time_s, const std::string& what) override;
  /// Whole lines, or nothing, in place of the one that lives.
  void say(const std::string& text);

private:
  live_line line_;
};

/// What a summary says, for people.
std::string describe(const actors::run_summary& s);

} // namespace gossamer::apps
