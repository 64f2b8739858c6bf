#pragma once

#include "gossamer/base/setting.hpp"
#include "gossamer/topology/graph.hpp"

#include <map>
#include <optional>
#include <string>

namespace gossamer::topology {

/// One direction between two nodes.
struct link_quality {
  double latency_s = 0;       ///< one way, in seconds
  double bits_per_second = 0; ///< may be infinite
  double jitter_s = 0;        ///< mean of a random extra latency, in seconds

  friend bool operator==(const link_quality&, const link_quality&) = default;
};

/// Numbers the ordered pairs of nodes, independently of the size of the network.
constexpr std::uint64_t link_number(rank from, rank to) noexcept { return std::uint64_t{from} << 32 | to; }
constexpr rank sender_of(std::uint64_t link) noexcept { return static_cast<rank>(link >> 32); }
constexpr rank receiver_of(std::uint64_t link) noexcept { return static_cast<rank>(link); }

/// The properties of a machine in a file of hosts that matter to links and to simulations.
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
  /// The host of each worker, then of each master, as `gossamer launch` deals them out to the processes: workers in
  /// blocks, masters in turn.
  std::vector<rank> homes(std::size_t workers, std::size_t masters = 0) const;
};

/// Reads tables `[[host]]` and `[[link]]`. Of a host it reads the members of `measured_host`, not the `launch_keys()`.
/// @error errc::io; errc::usage with file and line for an impossible host or link, and for a missing link
hosts_file read_hosts_file(const std::string& file);

} // namespace gossamer::topology
