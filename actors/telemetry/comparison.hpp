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
};

/// Reads the whole lines of metrics.jsonl, one after the other; none if the run has just begun. @error errc::io if it
/// cannot be read; errc::bad_data, with file and line, if it is damaged
void visit_evaluations(const std::filesystem::path& folder,
                       const std::function<void(std::string_view line, const evaluation_record& read)>& visit);
/// Reads all lines of metrics.jsonl.
std::vector<evaluation_record> read_evaluations(const std::filesystem::path& folder);

/// Reads the whole lines of events.jsonl that are events; none where there is no such file. @error likewise
std::vector<event_record> read_events(const std::filesystem::path& folder);

/// Reads metrics.jsonl and, if it is there, summary.json.
/// @error errc::io if metrics.jsonl cannot be read; errc::bad_data, with file and line, if it is damaged or empty
recorded_run read_run(const std::filesystem::path& folder);

/// An SVG picture with a curve for each run, and a legend. Evaluations whose values are not finite are left out.
/// @param x "seconds", "epochs" or "bits" (payload)
/// @param y "train-loss", "test-loss" or "accuracy" (on the test data)
/// @param logarithmic the scale of y; absent: logarithmic for losses that span more than a decade
/// @error errc::usage on another name, for a run without a finite value to draw, and for a value that is not positive
///        on a logarithmic scale
std::string compare(std::span<const recorded_run> runs, std::string_view x, std::string_view y,
                    std::optional<bool> logarithmic = {});

} // namespace gossamer::actors
