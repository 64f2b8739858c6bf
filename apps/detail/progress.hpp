#pragma once

#include "gossamer/actors/telemetry/record.hpp"

namespace gossamer::apps {

/// A line on standard error that is written over; nothing where that is no terminal.
class live_line {
public:
  live_line();
  live_line(const live_line&) = delete;
  live_line& operator=(const live_line&) = delete;
  ~live_line();
  void show(const std::string& text);
  /// Before anything else is written.
  void clear();

private:
  bool terminal_;
  bool open_ = false;
};

/// How far a run is, for people, in one line.
std::string progress_line(const actors::progress_record& p);

/// Shows a run on standard error: one line that lives, on a terminal; otherwise one plain line for each evaluation.
class progress final : public actors::run_observer {
public:
  void on_progress(const actors::progress_record& p) override;
  void on_evaluation(const actors::evaluation_record& r) override;
  void on_event(double time_s, const std::string& what) override;

private:
  live_line line_;
};

/// What a summary says, for people.
std::string describe(const actors::run_summary& s);

} // namespace gossamer::apps
