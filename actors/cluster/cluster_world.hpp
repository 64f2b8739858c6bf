#pragma once

#include "gossamer/actors/data_plane/credentials.hpp"
#include "gossamer/actors/fetch/fetching.hpp"
#include "gossamer/actors/frames/endpoint.hpp"
#include "gossamer/actors/node/run_surroundings.hpp"
#include "gossamer/actors/run/checkpoint.hpp"
#include "gossamer/actors/run/experiment.hpp"
#include "gossamer/actors/telemetry/record.hpp"
#include "gossamer/base/error.hpp"

#include <chrono>
#include <functional>
#include <optional>

namespace gossamer::actors {

/// What a process had come to when so few others were left that they could not go on with the run.
struct survival {
  std::shared_ptr<const experiment> run;
  std::string folder; ///< of the run, where its leader wrote; on another machine, perhaps
  std::uint32_t node = 0;
  resumption left; ///< but for the digests of its parts
};

/// How this process takes part in a run of several.
struct node_settings {
  endpoint where;          ///< the leader listens here, for control messages; port 0: any. Others join it there
  std::uint32_t slots = 1; ///< of this node: workers are dealt out in proportion
  std::size_t threads = 0; ///< of its scheduler; 0: one for each processor
  std::chrono::milliseconds patience = std::chrono::seconds(10);            ///< with a node that cannot be reached
  std::function<void(const std::string&)> tell = [](const std::string&) {}; ///< a line worth showing. Threads: any
  std::function<bool()> interrupted = [] { return false; };                 ///< asked several times a second
  credentials shows = {};                                                   ///< on all connections
  std::function<void(const endpoint&)> listens = [](const endpoint&) {};    ///< where others reach it from now on
  bool share_memory = true; ///< between nodes of one machine and user; else sockets
  /// Called before the run ends with an error for that reason. What most of the nodes write is not to be touched: they
  /// may live elsewhere, and go on.
  std::function<void(const survival&)> survives = [](const auto&) {};
};

/// One process of a run.
struct node_place {
  endpoint door; ///< where others can join
  std::vector<topology::rank> ranks;
};

struct leader_settings : node_settings {
  std::size_t nodes = 2;                                ///< with this one
  std::chrono::seconds wait = std::chrono::minutes(10); ///< for all of them to come
  /// All have come: these, by number.
  std::function<void(const std::vector<node_place>&)> begins = [](const auto&) {};
  /// The run is over, and those who wait for its end may hear of it when this returns.
  std::function<void(const run_summary&)> ends = [](const auto&) {};
  std::string folder = {};            ///< where the run is written down; who leads it later goes on there
  std::function<void()> stop = [] {}; ///< somebody asks for the end: `interrupted` says so from now on. Threads: any
};

/// What a node takes over with the lead.
struct succession {
  std::shared_ptr<const experiment> run;
  std::string folder; ///< where it was written down; on another machine, perhaps
  endpoint where;     ///< where this node can be asked how the run is
};

struct joining_settings : node_settings {
  std::vector<endpoint> more_doors = {}; ///< of nodes of the run, which are asked where nobody answers at `where`
  std::optional<std::uint32_t> wanted =
      std::nullopt; ///< the number it is to have, and for which it waits; nothing: any that is free
  std::chrono::milliseconds wait = std::chrono::seconds(10); ///< for somebody who leads, and lets it in
  /// It takes part from now on, and others can join at its own door. Threads: any.
  std::function<void(const endpoint&)> joined = [](const auto&) {};
  /// This node leads the run from now on, because all that might have done so before it are lost.
  std::function<std::shared_ptr<run_observer>(const succession&)> leads = [](const auto&) { return nullptr; };
  std::function<void(const run_summary&)> ends = [](const auto&) {}; ///< as of the leader
  std::function<void()> stop = [] {};                                ///< likewise
  /// How it gets the data from members of the run, where it has not got the same itself; null: it does not.
  std::optional<fetching_settings> fetching = std::nullopt;
  /// Asked several times a second: shall this node leave the run? Where others can take over what it has, it waits for
  /// that, but not longer than the patience. `interrupted` does not wait.
  std::function<bool()> leaves = [] { return false; };
  /// Whoever has this node leave probably tells all nodes at a time, and then the one that leads ends the run: only
  /// when nothing has come of that for the patience, this one leaves alone.
  bool ends_with_others = false;
};

/// Leads a run in several processes, of which this is node 0: waits until all have joined, coordinates, evaluates.
/// Workers are dealt out to the nodes in order. Synchronous algorithms come to what they come to in one process, bit
/// for bit. Frames between nodes travel over the data plane, control messages over CAF's middleman.
/// @error errc::failed when nodes do not come; node_has_gone; as `run_locally`
run_summary lead_cluster(std::shared_ptr<const experiment> e, const leader_settings& settings,
                         const run_surroundings& around = {});

/// Makes a run ready from the leader's settings as text (`parse_run_settings`), and from files that were fetched, if
/// they were (`run_settings::files`).
using preparation =
    std::function<std::shared_ptr<const experiment>(const std::string& settings, const compute::data_files& fetched)>;

/// Nobody lets this node in now, and somebody may later: nobody answers, nobody leads, or its place is taken.
class not_let_in : public error {
public:
  using error::error;
  explicit not_let_in(const error& e) : error(e) {}
};

/// Takes part in a run that another process leads, until it is over. When that one is lost, the next leads: the run
/// goes on as long as most of those live that vote, which are up to seven.
/// @returns whether it is over; else this node has left it, as it was asked to
/// @error not_let_in when nobody leads there, or the leader is lost, before it takes part; errc::failed when the run
///        has failed, or has no place; errc::usage when the leader refuses this node
bool join_cluster(const joining_settings& settings, const preparation& prepare);

} // namespace gossamer::actors
