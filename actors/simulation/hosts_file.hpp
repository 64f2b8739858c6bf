#pragma once

#include "gossamer/actors/simulation/network.hpp"
#include "gossamer/base/setting.hpp"

#include <map>
#include <string>

namespace gossamer::actors {

/// What is known of a machine of a file of hosts, as far as it matters to a simulation.
struct measured_host {
  std::string name;
  std::uint64_t slots = 1;                  ///< processes there, each with its share of the workers
  std::optional<double> seconds_per_sample; ///< of a minibatch; nothing: not measured
};

/// One direction between two of them.
struct measured_link {
  std::string from, to; ///< names of hosts
  double latency_s = 0; ///< one way
  double bits_per_second = 0;
};

/// Keys of a table `[[link]]`: from, to, latency (seconds), bandwidth (bits per second).
const settings_table<measured_link>& link_table();

/// What `gossamer measure` has written.
struct hosts_file {
  std::vector<measured_host> hosts;
  std::map<std::uint64_t, link_quality> links; ///< by `link_number` of two hosts: of every ordered pair

  std::size_t slots() const; ///< of all hosts
};

/// Reads tables `[[host]]` and `[[link]]`. Of a host it looks at what stands above, and leaves the rest to `launch`.
/// @error errc::io; errc::usage with file and line on what no host or link can be, and when a link is missing
hosts_file read_hosts_file(const std::string& file);

} // namespace gossamer::actors
