#pragma once

#include "gossamer/actors/simulation/network.hpp"
#include "gossamer/base/setting.hpp"

#include <map>
#include <string>

namespace gossamer::actors {

/// The properties of a machine in a file of hosts that matter to a simulation.
struct measured_host {
  std::string name;
  std::uint64_t slots = 1;                  ///< processes on it, each with its share of the workers
  std::optional<double> seconds_per_sample; ///< of a minibatch; absent: not measured
};

/// One direction between two hosts.
struct measured_link {
  std::string from, to; ///< names of hosts
  double latency_s = 0; ///< one way
  double bits_per_second = 0;
};

/// Keys of a table `[[link]]`: from, to, latency (seconds), bandwidth (bits per second).
const settings_table<measured_link>& link_table();

/// The output of `gossamer measure`.
struct hosts_file {
  std::vector<measured_host> hosts;
  std::map<std::uint64_t, link_quality> links; ///< of every ordered pair of hosts, by `link_number`

  std::size_t slots() const; ///< total of all hosts
};

/// Reads tables `[[host]]` and `[[link]]`. Of a host it reads the members of `measured_host`; the rest is for `launch`.
/// @error errc::io; errc::usage with file and line for an impossible host or link, and for a missing link
hosts_file read_hosts_file(const std::string& file);

} // namespace gossamer::actors
