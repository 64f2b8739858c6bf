#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace gossamer::apps {

/// Record of a run that `gossamer launch` keeps for later commands: launch.toml in the run's folder.
struct launch_record {
  std::uint64_t process = 0;           ///< the launching process
  std::uint64_t started = 0;           ///< start of that process, in ticks of the machine: process numbers are used
                                       ///< again
  std::string boot;                    ///< boot of the machine: ticks are used again, and other machines have their own
  std::string leader;                  ///< HOST:PORT
  std::string progress;                ///< the last line of progress
  bool stops = false;                  ///< true if the run has been asked to stop
  std::optional<std::uint64_t> status; ///< of the launch, when it has ended
  std::string goes_on_in;              ///< the folder beside this one where the run was started again; empty: none
};

/// One process of a run, as its launch knows it: a line of nodes/nodes.json.
struct node_record {
  std::string host;
  std::string address; ///< of its data plane
  std::string ranks;   ///< e.g. 0,1,2
  std::optional<int> status;
  std::size_t restarts = 0;
};

/// Notes the address and the ranks of a node. @param words "K HOST:PORT 0,1,2", as a leader announces them; others are
/// passed over @error errc::usage unless K is the number of a node
void note_place(std::vector<node_record>& nodes, const std::string& words);

/// Returns a record of this process.
launch_record own_record();

/// True if the process of a record lives. False for a process that ended, and for another one that has its number now.
bool is_alive(const launch_record& r);

/// @error errc::usage when no run was launched into that folder; errc::io
launch_record read_launch(const std::filesystem::path& folder);

/// Writes into the record of a folder that its run goes on in another one beside it. @error as `read_launch`
void note_next_folder(const std::filesystem::path& folder, const std::filesystem::path& next);

/// Returns the folder where a run is now that was launched into this one: the last of those in which it went on.
/// @error as `read_launch`, also of a later folder; errc::bad_data when folders lead back to one another
std::filesystem::path last_folder(std::filesystem::path folder);

/// Returns the path of the folder relative to the working directory, if it is below that.
std::string shown(const std::filesystem::path& folder);

/// Replaces the whole file. @returns 0, or errno
int write_launch(const std::filesystem::path& folder, const launch_record& r);
int write_nodes(const std::filesystem::path& folder, const std::vector<node_record>& nodes);

} // namespace gossamer::apps
