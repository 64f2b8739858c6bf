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

/// What a run folder says about a run.
struct recorded_run {
  std::string label; ///< the folder as it was named, and the algorithm and the number of workers if the run has ended
  std::vector<evaluation_record> evaluations;
};

/// Reads the lines of metrics.jsonl that have been written whole, one after the other; none, of a run that has just
/// begun. @error errc::io when it cannot be read; errc::bad_data, with file and line, when it is damaged
void visit_evaluations(const std::filesystem::path& folder,
                       const std::function<void(std::string_view line, const evaluation_record& read)>& visit);
/// All of them.
std::vector<evaluation_record> read_evaluations(const std::filesystem::path& folder);

/// Reads metrics.jsonl and, if it is there, summary.json.
/// @error errc::io when metrics.jsonl cannot be read; errc::bad_data, with file and line, when it is damaged or empty
recorded_run read_run(const std::filesystem::path& folder);

/// An SVG picture with a curve for each run, and a legend. Evaluations whose values are not finite are left out.
/// @param x "seconds", "epochs" or "bits" (payload)
/// @param y "train-loss", "test-loss" or "accuracy" (on the test data)
/// @param logarithmic the scale of y; not given: for losses that span more than a decade
/// @error errc::usage on another name, when a run has no finite value to draw, and when a value that is not positive
///        shall stand on a logarithmic scale
std::string compare(std::span<const recorded_run> runs, std::string_view x, std::string_view y,
                    std::optional<bool> logarithmic = {});

} // namespace gossamer::actors
