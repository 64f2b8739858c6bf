#pragma once

#include "gossamer/actors/telemetry/record.hpp"

#include <optional>
#include <string_view>

namespace gossamer::actors {

/// One line of metrics.jsonl, without the newline. A number that is not finite is written as null.
std::string to_json(const evaluation_record& record);

/// Reads such a line; null is NaN, except for the accuracy, which is then absent. Fields of later versions are ignored.
/// @error errc::bad_data without the place in the file
evaluation_record evaluation_from_json(std::string_view line);

// Lines for programs that watch a run (docs/watching.md): objects with the field "type" and, in the order of the
// records, their fields; without a newline.
std::string to_line(const progress_record& record);
std::string to_line(const evaluation_record& record);
std::string to_line(const event_record& record);
/// Reads a line of events.jsonl; absent for a line of another type. Kinds of later versions are notes.
/// @error errc::bad_data without the place in the file
std::optional<event_record> event_from_json(std::string_view line);
std::string to_line(const view_record& record);
/// Counts as arrays by rank; "waits" and "used_s" are null where the record has none.
std::string to_line(const workers_record& record);

// Readers of such lines, for programs that show a run. @error errc::bad_data without the place in the file
progress_record progress_from_json(std::string_view line);
/// Time, number, leader, members and masters; the rest is empty.
view_record view_from_json(std::string_view line);
/// Time and counts; the rest is absent.
workers_record workers_from_json(std::string_view line);

/// summary.json: the final evaluation's fields, then algorithm, workers, seed, end, steps_per_worker, staleness,
/// stale_frames, lost, returned, unreported, views, unfinished, version.
std::string to_json(const run_summary& summary);

} // namespace gossamer::actors
