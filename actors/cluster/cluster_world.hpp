#pragma once

#include "gossamer/actors/data_plane/credentials.hpp"
#include "gossamer/actors/fetch/fetching.hpp"
#include "gossamer/actors/frames/endpoint.hpp"
#include "gossamer/actors/node/run_surroundings.hpp"
#include "gossamer/actors/protocol/run_status.hpp"
#include "gossamer/actors/run/checkpoint.hpp"
#include "gossamer/actors/run/experiment.hpp"
#include "gossamer/actors/telemetry/record.hpp"
#include "gossamer/base/error.hpp"

#include <chrono>
#include <functional>
#include <optional>

namespace gossamer::actors {

/// The state of a process that is left with too few others to go on with the run.
struct survival {
  std::shared_ptr<const experiment> run;
  std::string folder; ///< folder of the run, where its leader wrote; it may be on another machine
  std::uint32_t node = 0;
  resumption left; ///< complete but for the digests of its parts
};

/// The settings of one process in a run of several.
struct node_settings {
  endpoint where;          ///< the leader listens here for control messages, and others join it here; port 0: any
  std::uint32_t slots = 1; ///< slots of this node: workers are dealt out in proportion
  std::size_t threads = 0; ///< threads of its scheduler; 0: one for each processor
  std::chrono::milliseconds patience = std::chrono::seconds(10);            ///< patience with an unreachable node
  std::function<void(const std::string&)> tell = [](const std::string&) {}; ///< a line worth showing. Threads: any
  std::function<bool()> interrupted = [] { return false; };                 ///< asked several times a second
  credentials shows = {};                                                   ///< credentials on all connections
  std::function<void(const endpoint&)> listens = [](const endpoint&) {};    ///< gets the address where others reach it
  bool share_memory = true; ///< between nodes of one machine and user; else sockets
  /// Fills in the lines behind `next`, and moves it, for those who look on from elsewhere. Called while this node
  /// leads.
  std::function<void(run_lines&)> read_lines = [](run_lines&) {};
  /// Called before the run ends with an error because too few nodes are left. Files that most of the nodes write are
  /// not to be touched: these nodes may live elsewhere, and go on.
  std::function<void(const survival&)> survives = [](const auto&) {};
};

/// One process of a run.
struct node_place {
  endpoint door; ///< where others can join
  std::vector<topology::rank> ranks;
};

struct leader_settings : node_settings {
  std::size_t nodes = 2;                                ///< number of nodes, with this one
  std::chrono::seconds wait = std::chrono::minutes(10); ///< time for all of them to come
  /// Called when all have come, with the nodes by number.
  std::function<void(const std::vector<node_place>&)> begins = [](const auto&) {};
  /// Called when this node leads again, after others did, with its door. Threads: any.
  std::function<void(const endpoint&)> leads_again = [](const auto&) {};
  /// Called when the run is over. Processes that wait for its end may hear of it when this returns.
  std::function<void(const run_summary&)> ends = [](const auto&) {};
  std::string folder = {};            ///< where the run is written down; a later leader goes on there
  std::function<void()> stop = [] {}; ///< a process asks for the end: `interrupted` is true from now on. Threads: any
  std::string device_of_others = {};  ///< where other nodes compute that do not choose; empty: as this one does
};

/// The state that a node takes over with the lead.
struct succession {
  std::shared_ptr<const experiment> run;
  std::string folder;               ///< where the run was written down; it may be on another machine
  endpoint where;                   ///< where this node answers requests for the status
  std::size_t workers_per_node = 1; ///< for faults of nodes
};

struct joining_settings : node_settings {
  std::vector<endpoint> more_doors = {};              ///< doors of nodes of the run, asked when `where` does not answer
  std::optional<std::uint32_t> wanted = std::nullopt; ///< the number that it waits for; `nullopt`: any free one
  std::chrono::milliseconds wait = std::chrono::seconds(10); ///< time for a leader to let it in
  /// Called when this node takes part, and others can join at its own door. Threads: any.
  std::function<void(const endpoint&)> joined = [](const auto&) {};
  /// Called when this node takes the lead, because all nodes that might have done so before it are lost.
  std::function<std::shared_ptr<run_observer>(const succession&)> leads = [](const auto&) { return nullptr; };
  std::function<void(const run_summary&)> ends = [](const auto&) {}; ///< as for the leader
  std::shared_ptr<fault_wishes> wishes = nullptr; ///< faults to inject once this node leads; null: none will come
  std::shared_ptr<run_trace> trace = nullptr;     ///< as in `run_surroundings`
  std::function<void()> stop = [] {};             ///< as for the leader
  /// The way to get the data from members of the run, where this node lacks the same; `nullopt`: none.
  std::optional<fetching_settings> fetching = std::nullopt;
  /// Asked several times a second: true if this node shall leave the run. Where others can take over what it has, it
  /// waits for that, but not longer than the patience. `interrupted` does not wait.
  std::function<bool()> leaves = [] { return false; };
  /// The wish that this node leaves probably reaches all nodes at a time, and then the leader ends the run. This node
  /// leaves alone only when that has not happened for the patience.
  bool ends_with_others = false;
};

/// Leads a run in several processes, of which this is node 0: waits until all have joined, leads, evaluates. Workers
/// are dealt out to the nodes in order. Synchronous algorithms have the same result as in one process, bit for bit.
/// Frames between nodes travel over the data plane, control messages over CAF's middleman.
/// @error errc::failed when nodes do not come; node_has_gone; as `run_locally`
run_summary lead_cluster(std::shared_ptr<const experiment> e, const leader_settings& settings,
                         const run_surroundings& around = {});

/// Prepares a run from the leader's settings as text (`parse_run_settings`), and from fetched files, if there are any
/// (`run_settings::files`).
using preparation =
    std::function<std::shared_ptr<const experiment>(const std::string& settings, const compute::data_files& fetched)>;

/// No node lets this one in now, but one may later: no door answers, no node leads, or its place is taken.
class not_let_in : public error {
public:
  using error::error;
  explicit not_let_in(const error& e) : error(e) {}
};

/// Takes part in a run that another process leads, until it is over. When the leader is lost, the next one leads: the
/// run goes on as long as most of its voters live, which are up to seven.
/// @returns true if the run is over; false if this node has left it, as it was asked to
/// @error not_let_in when no process leads there, or the leader is lost, before it takes part; errc::failed when the
///        run has failed, or has no place; errc::usage when the leader refuses this node
bool join_cluster(const joining_settings& settings, const preparation& prepare);

} // namespace gossamer::actors
