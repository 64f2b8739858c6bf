#pragma once

#include "gossamer/apps/detail/launch.hpp"

namespace gossamer::apps {

/// `gossamer measure`: how fast the links between hosts are, and how long each computes.
struct measure_options {
  std::string hosts;
  std::string out = "measured.toml";
  double wait_s = 300; ///< for each answer of a host: longer than a probe waits for a slow link
  node_options node;   ///< of each of them
};

/// Starts a probe on each host, has them measure one after another, prints a table and writes the file of hosts again,
/// with what was found.
/// @param job whose model and data are to be computed with: the words of a command line
/// @error errc::usage when hosts are not two or more of different names, or as `launch`; errc::failed when a host
/// cannot
///        be started or reached, which says why, or does not answer in time; errc::io
void measure(const program& p, const measure_options& how, const std::vector<std::string>& job);

/// The part of one host, which obeys lines on standard input until it ends: `run NUMBER`, which it answers with where
/// it listens; `host HOST:PORT` for each of all, in order, and `meet`; then `sample` and `link K`, which it answers
/// with seconds a sample, or with seconds one way and bits per second to host K.
/// @returns the exit status @error errc::failed when a host does not answer, errc::io
int probe(const program& p, const node_options& node, const run_options& job);

} // namespace gossamer::apps
