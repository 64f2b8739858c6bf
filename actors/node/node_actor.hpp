#pragma once

#include "gossamer/actors/agreement/node_protocol.hpp"
#include "gossamer/actors/evaluation/kept_models.hpp"
#include "gossamer/actors/faults/board.hpp"
#include "gossamer/actors/hosting/messages.hpp"
#include "gossamer/actors/hosting/worker_gauge.hpp"
#include "gossamer/actors/node/remote_nodes.hpp"

#include <functional>

namespace gossamer::actors {

/// How a node starts the actors of its process.
struct node_spawners {
  /// Starts a worker actor; called again with a higher incarnation when a worker is started anew.
  std::function<caf::actor(rank, std::uint32_t incarnation, const caf::actor& node)> worker;
  std::shared_ptr<gauge_board> gauges = std::make_shared<gauge_board>(false); ///< of the workers that it starts
  std::function<caf::actor(const caf::actor& node)> evaluator;
  /// Starts the writer of checkpoints (checkpoint_writer.hpp); may be empty: nothing is saved.
  std::function<caf::actor(const caf::actor& node)> checkpoint_writer = {};
};

/// The ways of a node to the other processes of its run. A run of one process has none.
struct node_network {
  std::map<consensus::node_number, node_interface::handle> met = {}; ///< handles of other nodes
  caf::actor files = {};                                             ///< the file server (file_server.hpp)
  run_offer offer = {};   ///< for processes that come later; their numbers are added
  fingerprint print = {}; ///< that of the run, as it was prepared here
  /// Called when a node is elsewhere now, with all nodes that exchange frames, this one among them.
  std::function<void(const std::map<consensus::node_number, consensus::process>&)> meet = [](const auto&) {};
  caf::actor connector = {}; ///< gets a `connect_atom` per connection; null: all nodes have been met
  /// Sends a master's model to the node where it is evaluated.
  std::function<void(const snapshot&, std::uint32_t node)> send_masters_model = {};
  std::function<void(const switch_fault&)> switch_fault = {};
};

/// What the program around a node hears of it, and asks of it.
struct node_client {
  caf::actor actor;    ///< gets the `run_summary`, the `run_failed`, or the `leave_run`
  caf::actor steps_to; ///< gets a copy of each `step_report` that the leader counts; may be null
  /// Called when this process comes to lead. The observer is the leader's; may be null.
  std::function<std::shared_ptr<run_observer>()> observe = [] { return nullptr; };
  std::function<bool()> interrupted; ///< asked several times a second where the leader is: does the user want to stop?
  /// Called with each resolution that this process goes on by, for onlookers. May be empty.
  std::function<void(const consensus::resolution&)> on_resolution = {};
  /// Called where this process leads with the number of each checkpoint that is whole, for onlookers. May be empty.
  std::function<void(std::uint64_t)> on_checkpoint = {};
  std::function<void(const std::string&)> tell = [](const std::string&) {}; ///< a line worth showing
  std::function<void()> stop = [] {};                                       ///< a process asks for the end of the run
  /// Fills in the lines behind `next`, and moves it, where this node leads and somebody looks on from elsewhere.
  std::function<void(run_lines&)> read_lines = [](run_lines&) {};
};

/// All that a process of a run needs to know of it. Fields for the leader alone may be left out where this process
/// never leads.
struct node_setup {
  std::shared_ptr<const experiment> run;
  std::uint32_t number = 0; ///< number of this node
  std::shared_ptr<const consensus::charter> rules;
  consensus::resolution last; ///< the one with which the run begins, or that was known when this process came
  std::optional<consensus::process> comes_as = {};  ///< the life of a process that comes later; absent: a founder
  double time_s = 0;                                ///< time of the run so far
  run_books books = {};                             ///< totals of the run so far
  std::shared_ptr<const resumption> from = nullptr; ///< the checkpoint that the run goes on from; null: it begins
  std::chrono::nanoseconds patience = std::chrono::seconds(10); ///< patience with a silent node
  std::chrono::nanoseconds detection{0};                        ///< from a worker's death to the moment it is noticed
  std::shared_ptr<const fault_board> faults = nullptr; ///< the leader tells which were to begin; null: there is no plan
  node_spawners spawn;
  node_network others;
  node_client client;
};

/// The failure of a node that has heard nothing of a leader for so long.
run_failed silent_leader(std::chrono::nanoseconds patience);

/// Spawns one process of a run: the shell around its `node_protocol`. It starts the workers of this process and hands
/// on their messages: reports together, 20 times a second, and in an asynchronous run also whenever they are a 256th of
/// the planned updates. It keeps their models until their mean is asked for. While it leads it counts steps, decides
/// when to evaluate and to save, and ends the run with one error when a part fails that the run cannot do without. It
/// begins with `start_run`; so does the run, where it leads.
///
/// A process that comes later connects to those that are there; a leader takes in a process that comes back.
///
/// A run that has ended, or failed, stays until its client says `leave_run`: then all other nodes are sent away, and
/// waited for, but not for long.
///
/// A worker that dies without an error of its own (killed, or its machine is gone) is lost: the others go on under a
/// new view, and it may be started anew.
caf::actor spawn_node(caf::actor_system& system, node_setup setup);

/// Spawns a node that waits for a `cluster_plan`, from which the rest follows.
/// @param client gets a `leave_run` that comes before the plan
/// @param files  the file server (file_server.hpp), which serves before the plan, too
caf::actor spawn_node_later(caf::actor_system& system, std::function<node_setup(const cluster_plan&)> prepare,
                            caf::actor client, caf::actor files = {});

} // namespace gossamer::actors
