#pragma once

#include "gossamer/actors/telemetry/folder_lock.hpp"
#include "gossamer/actors/telemetry/record.hpp"

#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <string_view>

namespace gossamer::actors {

/// Where a run leaves what it found: config.toml, metrics.jsonl (a line per evaluation, flushed at once), and, when the
/// run has ended, summary.json and plot.svg; of simulations and faults also faults.toml, costs.toml, blame.txt,
/// blame.json and trace.json. A file that is there is whole: all but metrics.jsonl are written beside their place and
/// moved into it. A run that failed leaves no summary.json. As long as this lives, no other process can write a run
/// there: see `folder_lock`.
///
/// @error errc::io from every member when the system refuses (disk full, read-only folder), naming the file
class run_folder final : public run_observer {
public:
  /// Creates the folder. @error errc::usage when it already holds a run, unless `overwrite`, and when another process
  /// writes one there
  run_folder(std::filesystem::path folder, bool overwrite);

  /// Goes on in the folder of a run whose process has died, or has fallen silent: behind the evaluations that it had
  /// written. What it still writes, should it live, is lost.
  /// @error errc::io when there is no run, or it cannot be written to
  static run_folder taken_over(std::filesystem::path folder);

  void write(std::string_view name, std::string_view text);
  /// For big files: `content` writes to the stream, and leaves its failures there.
  void write(std::string_view name, const std::function<void(std::FILE*)>& content);
  void on_evaluation(const evaluation_record& record) override;
  /// Writes plot.svg and summary.json.
  void finish(const run_summary& summary);
  /// The same with another text for summary.json: one that knows more.
  void finish(const run_summary& summary, std::string_view json);

  const std::filesystem::path& path() const noexcept { return folder_; }

  /// Makes a folder with the next free number: `parent`/001-`name`, 002-, ... However many processes do so at once,
  /// each gets a number of its own.
  static std::filesystem::path make_next(const std::filesystem::path& parent, std::string_view name);

  /// Takes back what was written, and the folder if nothing else is in it: for a run that could not even start.
  void discard() noexcept;

private:
  explicit run_folder(std::filesystem::path folder);
  void open_metrics(const char* mode);

  struct close_file {
    void operator()(std::FILE* f) const noexcept { std::fclose(f); }
  };

  std::filesystem::path folder_;
  std::unique_ptr<const folder_lock> lock_; // let go last; null: whoever fell silent may still have it
  std::unique_ptr<std::FILE, close_file> metrics_;
};

} // namespace gossamer::actors
