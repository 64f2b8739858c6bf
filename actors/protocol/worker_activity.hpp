#pragma once

#include "gossamer/actors/run/time_sheet.hpp"
#include "gossamer/actors/telemetry/record.hpp"

#include <map>
#include <vector>

namespace gossamer::actors {

/// What a worker does in its present life, for those who look on. Part of a `work_report`, where somebody does.
struct worker_activity {
  static constexpr std::size_t most_peers = 32; ///< in each list: those that matter most

  rank who = 0;
  std::map<rank, std::uint64_t> bits_per_second = {}; ///< on the wire, by receiver, since the activity before
  std::vector<rank> waits_for = {};                   ///< at this moment
  std::map<rank, std::uint64_t> waited_ns = {};       ///< so far, by awaited worker
  std::vector<std::uint64_t> used_ns = {};            ///< by `activity`; empty where it is not measured
};

/// Returns what a sheet tells, with the waits that are under way. @param now on the sheet's clock
worker_activity activity_of(rank who, const time_sheet& sheet, time_sheet::time now);

/// Leaves the `worker_activity::most_peers` of largest value.
void keep_largest(std::map<rank, std::uint64_t>& of_peers);

/// Adds a worker to a record.
void add(workers_record& to, const worker_activity& one);
/// Leaves the links, waits and workers' pairs that `workers_record` has room for, the largest first.
void keep_largest(workers_record& r);

template <class Inspector>
decltype(auto) inspect(Inspector& f, worker_activity& a) {
  return f(a.who, a.bits_per_second, a.waits_for, a.waited_ns, a.used_ns);
}

} // namespace gossamer::actors
