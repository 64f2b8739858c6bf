#pragma once

#include "gossamer/actors/telemetry/record.hpp"

#include <string>
#include <vector>

namespace gossamer::apps {

/// Lines on a terminal's standard error that are written over; elsewhere they are not shown. On a narrow terminal the
/// last parts of a line, which two spaces separate, are left out, and on a low one the last lines.
class live_block {
public:
  explicit live_block(bool wanted = true) : seen_(wanted && is_seen()) {}
  live_block(const live_block&) = delete;
  live_block& operator=(const live_block&) = delete;
  ~live_block();
  void show(const std::vector<std::string>& lines);
  void show(const std::string& line) { show(std::vector{line}); }
  /// Removes the lines, also when the terminal has become narrower and has broken them. Called before anything else is
  /// written.
  void clear();

  /// True if there is a terminal that can write over lines.
  static bool is_seen();

private:
  bool seen_;
  std::vector<std::size_t> shown_; ///< the columns of each line
};

/// Returns as many parts of a line as fit into the columns: at least one, which may be cut.
std::string fitted(std::string line, std::size_t columns);

/// Returns the progress of a run for people: one line, the most important parts first.
std::string progress_line(const actors::progress_record& p);

/// Returns an evaluation for people: one line.
std::string evaluation_line(const actors::evaluation_record& r);

/// A picture of a run under way in a few lines: a bar, the loss so far, and a line for each of up to `most_workers`
/// workers. Threads: one at a time.
class progress_picture {
public:
  static constexpr std::size_t most_workers = 16;

  void take(const actors::progress_record& p);
  void take(const actors::view_record& r);
  void take(const actors::workers_record& r);
  /// @param unicode the curve of the loss is drawn
  std::vector<std::string> lines(bool unicode) const;

private:
  void add_members(std::vector<std::string>& lines) const;

  actors::progress_record now_;
  std::vector<double> losses_;       ///< evenly spread over the run so far
  std::size_t seen_ = 0, every_ = 1; ///< records of progress; one of `every_` is in `losses_`
  actors::view_record view_;
  actors::workers_record before_, workers_;
};

/// Shows a run on standard error: on a terminal a block of lines that is written over, otherwise one plain line for
/// each evaluation.
class progress final : public actors::run_observer {
public:
  /// @param in_place false: plain lines on terminals, too
  explicit progress(bool in_place = true) : block_(in_place) {}

  /// True if a run of so many workers has lines of `on_workers`.
  static bool shows_each_of(std::size_t workers, bool in_place) {
    return in_place && live_block::is_seen() && workers <= progress_picture::most_workers;
  }
  void on_progress(const actors::progress_record& p) override;
  void on_evaluation(const actors::evaluation_record& r) override;
  void on_event(const actors::event_record& r) override;
  void on_view(const actors::view_record& r) override { picture_.take(r); }
  void on_workers(actors::workers_record r) override { picture_.take(r); }
  /// Writes whole lines, or nothing, in place of the block.
  void say(const std::string& text);

private:
  live_block block_;
  progress_picture picture_;
};

/// Returns a summary for people.
std::string describe(const actors::run_summary& s);

/// 1234567 -> "1.23 M".
std::string with_prefix(double value);

} // namespace gossamer::apps
