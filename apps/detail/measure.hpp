#pragma once

#include "gossamer/apps/detail/launch.hpp"

#include <algorithm>

namespace gossamer::apps {

/// `gossamer measure`: the speed of the links between hosts, and the time that each host computes.
struct measure_options {
  std::string hosts;
  std::string out = "measured.toml";
  double wait_s = 300; ///< for each answer of a host: longer than a probe waits for a slow link
  node_options node;   ///< options of each node
};

/// Starts a probe on each host, has them measure one after another, prints a table and writes the file of hosts again,
/// with the results.
/// @param job words of a command line: their model and data are computed with
/// @error errc::usage when hosts are not two or more of different names, or as `launch`; errc::failed when a host
///        cannot be started or reached, which says why, or does not answer in time; errc::io
void measure_cluster(const program& p, const measure_options& how, const std::vector<std::string>& job);

/// Returns the seconds that the bytes of a frame took, of the round trip of frame and answer. A machine that was busy
/// when the latency was measured may answer in less than twice that time: at least half of a round trip counts.
inline double seconds_of_bytes(double round_trip_s, double latency_s) {
  return std::max(round_trip_s - 2 * latency_s, round_trip_s / 2);
}

/// The part of one host, which obeys lines on standard input until it ends. It answers `run NUMBER` with the address
/// where it listens; then come `host HOST:PORT` for each host, in order, and `meet`. It answers `sample` with seconds a
/// sample, and `link K` with seconds one way and bits per second to host K.
/// @returns the exit status @error errc::failed when a host does not answer, errc::io
int probe(const program& p, const node_options& node, const run_options& job);

} // namespace gossamer::apps
