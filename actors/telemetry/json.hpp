#pragma once

#include "gossamer/actors/telemetry/record.hpp"

namespace gossamer::actors {

/// One line of metrics.jsonl, without the newline. A number that is not finite is written as null.
std::string to_json(const evaluation_record& record);

/// summary.json: the final evaluation's fields, then algorithm, workers, seed, end, steps_per_worker, staleness,
/// version.
std::string to_json(const run_summary& summary);

} // namespace gossamer::actors
