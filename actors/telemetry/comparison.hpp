#pragma once

#include "gossamer/actors/telemetry/record.hpp"

#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gossamer::actors {

/// The contents of a run folder.
struct recorded_run {
  std::string
      label; ///< the folder's name as given; of a run that has ended, also the algorithm and the number of workers
  std::vector<evaluation_record> evaluations;
  std::vector<event_record> events = {};
  /// The lines of config.toml but the seed and comments; absent: there is no such file.
  std::optional<std::string> settings_but_seed = {};
};

/// Reads the whole lines of metrics.jsonl, one after the other; none if the run has just begun. @error errc::io if it
/// cannot be read; errc::bad_data, with file and line, if it is damaged
void visit_evaluations(const std::filesystem::path& folder,
                       const std::function<void(std::string_view line, const evaluation_record& read)>& visit);
/// Reads all lines of metrics.jsonl.
std::vector<evaluation_record> read_evaluations(const std::filesystem::path& folder);

/// Reads the whole lines of events.jsonl that are events; none where there is no such file. @error likewise
std::vector<event_record> read_events(const std::filesystem::path& folder);

/// Reads metrics.jsonl and, where they are, summary.json, events.jsonl and config.toml.
/// @error errc::io if metrics.jsonl cannot be read; errc::bad_data, with file and line, if it is damaged or empty
recorded_run read_run(const std::filesystem::path& folder);

/// What a comparison shows, and how.
struct comparison_options {
  std::string x = "seconds";            ///< or "epochs", "bits" (payload)
  std::string y = "train-loss";         ///< or "test-loss", "accuracy" (on the test data), "averagings" (per gradient)
  std::optional<bool> logarithmic = {}; ///< the scale of y; absent: logarithmic for losses that span more than a decade
  std::size_t smooth = 1;               ///< evaluations around each one whose mean a curve has
  bool band = false; ///< runs that differ only in the seed become one curve, their median, in a band from the smallest
                     ///< to the largest value
};

/// An SVG picture with a curve for each run, marks at its events, and a legend. Evaluations whose values are not finite
/// are left out, and so are marks of runs within a band.
/// @error errc::usage on another name, for a run without a finite value to draw, for a value that is not positive on a
///        logarithmic scale, and for a band where no two runs differ only in the seed
std::string compare(std::span<const recorded_run> runs, const comparison_options& options);

} // namespace gossamer::actors
