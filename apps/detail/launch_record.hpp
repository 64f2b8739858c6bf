#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace gossamer::apps {

/// What `gossamer launch` keeps of a run for those who come back to it: launch.toml in the run's folder.
struct launch_record {
  std::uint64_t process = 0;           ///< which launches it
  std::uint64_t started = 0;           ///< when that began, in ticks of the machine: numbers of processes come again
  std::string boot;                    ///< of the machine: ticks come again, and other machines have theirs
  std::string leader;                  ///< HOST:PORT
  std::string progress;                ///< the last line of it
  bool stops = false;                  ///< it has been asked to
  std::optional<std::uint64_t> status; ///< of the launch, when it has ended
};

/// One process of a run, as its launch knows it: a line of nodes/nodes.json.
struct node_record {
  std::string host;
  std::string address; ///< of its data plane
  std::string ranks;   ///< 0,1,2
  std::optional<int> status;
  std::size_t restarts = 0;
};

/// A record of this process.
launch_record own_record();

/// Whether the process of a record is there. False for what ended and for another that has its number now.
bool is_alive(const launch_record& r);

/// @error errc::usage when nothing was launched into that folder; errc::io
launch_record read_launch(const std::filesystem::path& folder);

/// The folder as it is called from here, when it is below.
std::string shown(const std::filesystem::path& folder);

/// Replaces it whole. @returns 0, or errno
int write_launch(const std::filesystem::path& folder, const launch_record& r);
int write_nodes(const std::filesystem::path& folder, const std::vector<node_record>& nodes);

} // namespace gossamer::apps
