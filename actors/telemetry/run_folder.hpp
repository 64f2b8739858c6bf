#pragma once

#include "gossamer/actors/telemetry/folder_lock.hpp"
#include "gossamer/actors/telemetry/record.hpp"

#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <string_view>

namespace gossamer::actors {

/// The folder for the results of a run: config.toml, metrics.jsonl (a line per evaluation, flushed at once),
/// events.jsonl (likewise, of events and progress; docs/watching.md) and, when the run has ended, summary.json and
/// plot.svg; for simulations and faults also faults.toml, costs.toml, blame.txt, blame.json and trace.json. A file that
/// exists is whole: all others are written beside their place and moved into it. A run that failed leaves no
/// summary.json. As long as this object lives, no other process can write a run there: see `folder_lock`.
///
/// Lines for which the disk has no room are written with the next one that it has room for: a checkpoint that is given
/// up makes room. They wait until `finish`, and to 64 KiB for each file.
///
/// @error errc::io from every member if the system refuses (disk full, read-only folder), naming the file
class run_folder final : public run_observer {
public:
  /// Creates the folder. @param overwrite what it holds of another run goes when this one has begun
  /// @error errc::usage if it already holds a run, unless `overwrite`, and if another process writes one there
  run_folder(std::filesystem::path folder, bool overwrite);

  /// Goes on in the folder of a run whose process has died, or has fallen silent, behind the evaluations that it had
  /// written. If that process lives, its later output is lost.
  /// @error errc::io if there is no run, or it cannot be written to
  static run_folder taken_over(std::filesystem::path folder);
  /// Takes this folder over from a process that has taken it over meanwhile. @error as `taken_over`
  void take_back();

  void write(std::string_view name, std::string_view text);
  /// For big files: `content` writes to the stream, and leaves its failures there.
  void write(std::string_view name, const std::function<void(std::FILE*)>& content);
  void on_evaluation(const evaluation_record& record) override;
  void on_event(const event_record& record) override;
  /// Keeps a part of the records: one a second at first, and later one for each hundredth of the time so far.
  void on_progress(const progress_record& record) override;
  /// Writes summary.json, and then plot.svg. A folder that was moved or removed meanwhile is made again for them.
  /// @returns what is missing there for that reason, for people; empty: nothing
  std::string finish(const run_summary& summary);
  /// Writes this longer text as summary.json.
  std::string finish(const run_summary& summary, std::string_view json);

  const std::filesystem::path& path() const noexcept { return folder_; }

  /// Makes a folder with the next free number: `parent`/001-`name`, 002-, ... Processes that do so at once each get a
  /// number of their own.
  static std::filesystem::path make_next(const std::filesystem::path& parent, std::string_view name);
  /// Opens a folder that `make_next` has made.
  static run_folder next_in(const std::filesystem::path& parent, std::string_view name);

  /// Writes an evaluation of the run that this one goes on from.
  void bring(const evaluation_record& record);
  /// The run has begun, as its first evaluation says, too: the folder stays.
  void begin() noexcept;
  /// Removes the written files, and the folder if it was made for this run and nothing else is in it: for a run that
  /// could not even start. A run that was to be overwritten is there again. Does nothing once this one has begun, or
  /// has a checkpoint.
  void discard() noexcept;

private:
  explicit run_folder(std::filesystem::path folder);
  void open_files(const char* mode);
  void make_again();
  void forget_replaced() noexcept;

  struct close_file {
    void operator()(std::FILE* f) const noexcept { std::fclose(f); }
  };
  /// A file to which lines are added.
  struct line_file {
    const char* name;
    std::unique_ptr<std::FILE, close_file> out = {}; // without a buffer: what it takes is in the file
    std::string waiting = {};                        // for room on the disk
  };

  void append(line_file& to, std::string_view line);
  void write_waiting(line_file& to, std::size_t most_left);

  std::filesystem::path folder_;
  std::unique_ptr<const folder_lock> lock_; // destroyed last; null: a silent process may still hold it
  line_file metrics_{"metrics.jsonl"};
  line_file events_{"events.jsonl"};
  double next_progress_s_ = 0;
  bool is_new_ = false; // no folder was there before
  bool has_begun_ = false;
  bool is_made_again_ = false;
};

} // namespace gossamer::actors
