#pragma once

#include "gossamer/actors/telemetry/record.hpp"

namespace gossamer::apps {

/// A line on a terminal's standard error that is written over; elsewhere it is not shown. On a narrow terminal the last
/// parts of the line, which two spaces separate, are left out: a line that is broken could not be written over.
class live_line {
public:
  live_line() = default;
  live_line(const live_line&) = delete;
  live_line& operator=(const live_line&) = delete;
  ~live_line();
  void show(const std::string& text);
  /// Removes the line. Called before anything else is written.
  void clear();

  /// True if there is a terminal that can write over a line.
  static bool is_seen();

private:
  bool seen_ = is_seen();
  bool open_ = false;
};

/// Returns as many parts of a line as fit into the columns: at least one, which may be cut.
std::string fitted(std::string line, std::size_t columns);

/// Returns the progress of a run for people: one line, the most important parts first.
std::string progress_line(const actors::progress_record& p);

/// Shows a run on standard error: on a terminal one line that is written over, otherwise one plain line for each
/// evaluation.
class progress final : public actors::run_observer {
public:
  void on_progress(const actors::progress_record& p) override;
  void on_evaluation(const actors::evaluation_record& r) override;
  void on_event(const actors::event_record& r) override;
  /// Writes whole lines, or nothing, in place of the line of progress.
  void say(const std::string& text);

private:
  live_line line_;
};

/// Returns a summary for people.
std::string describe(const actors::run_summary& s);

} // namespace gossamer::apps
