#pragma once

#include "gossamer/actors/cluster/cluster_world.hpp"
#include "gossamer/actors/data_plane/tls/identity.hpp"
#include "gossamer/apps/detail/options.hpp"
#include "gossamer/apps/detail/program.hpp"

#include <optional>
#include <string>
#include <vector>

namespace gossamer::apps {

/// `gossamer node`: one process of a run in several.
struct node_options {
  std::string listen; ///< HOST:PORT: lead a run
  std::string join;   ///< HOST:PORT,...: take part in the run with these nodes; the first that answers lets it in
  /// HOST:PORT: node `number` of `nodes` that are all started alike: node 0 leads there, the others join it
  std::string rendezvous;
  bool slurm = false; ///< a rendezvous that Slurm's environment describes
  std::size_t nodes = 2;
  std::uint32_t slots = 1;
  std::optional<std::uint32_t> number; ///< number of the node; `nullopt` for a node that joins: any free number
  double wait_s = 600;
  double patience_s = 10;
  std::string certs;          ///< folder of `gossamer certs` for this host; empty: no encryption
  bool insecure = false;      ///< also use addresses that other machines reach
  std::string token_file;     ///< file with the token of the run; "-": standard input, its first line
  bool no_token = false;      ///< without certificates: let every process in
  bool share_memory = true;   ///< with nodes of the same machine
  std::string data_dir;       ///< where relative paths of files of data and model begin; empty: where the process works
  bool announce = false;      ///< print events as lines on standard output, for the program that has started it
  bool announce_live = false; ///< announce also what a live page shows
  bool announce_trace = false;   ///< announce also what its workers do, moment by moment
  bool heeds_orders = false;     ///< inject the faults that come on standard input
  bool report = true;            ///< write report.html of a run that it has led to its end
  bool until_input_ends = false; ///< the end of standard input is an interrupt
  bool probe = false;            ///< obey `gossamer measure` instead of training
  bool data_from_peers = false;  ///< a node that joins gets missing data from other nodes
  std::string data_cache;        ///< folder of that data; empty: the user's caches
  std::string data_rate;         ///< rate limit of that: `parse_byte_rate`; empty: none
  std::string device;            ///< of its own workers; empty: the job's
  std::size_t threads = 0; ///< threads of its scheduler; 0: one for each processor, or, of one that leads, the job's
};

/// Resolves the place at which a node that was started like all others leads or joins.
/// @error errc::usage unless exactly one of listen, join, rendezvous and slurm is given
node_options placed(node_options node);

/// Leads a run. @param job the run that the nodes train @returns the exit status
int lead(const program& p, const node_options& node, run_options job);

/// Takes part in a run. @returns the exit status
int join(const program& p, const node_options& node);

/// Begins each line for the program that has started this one, and stands nowhere else in it: a program of the user's
/// writes to the same standard output, perhaps half a line.
inline constexpr char announced_by = '\x1e'; // "record separator"

// What follows in the lines by which a leader announces events on standard output, in this order.
inline constexpr std::string_view folder_is = "run folder ";             ///< its absolute path
inline constexpr std::string_view announcement = "listening on ";        ///< HOST:PORT
inline constexpr std::string_view node_is = "node ";                     ///< number, HOST:PORT of its door, ranks
inline constexpr std::string_view all_have_come = "all nodes are ready"; ///< the whole line
/// Type of a line for a live page, and the line: of progress, several a second; and, if they are wanted, all others.
inline constexpr std::string_view live_is = "live ";

// What follows in the lines that any node announces.
inline constexpr std::string_view door_is = "door ";                 ///< HOST:PORT: the node takes part; others join
                                                                     ///< there
inline constexpr std::string_view trace_is = "trace ";               ///< if wanted: `actors::to_text` of moments
inline constexpr std::string_view is_not_let_in = "not let in";      ///< the whole line: actors::not_let_in
inline constexpr std::string_view has_left = "left";                 ///< the whole line: the node left as it was asked
                                                                     ///< to
inline constexpr std::string_view survivor_is = "left too few, in "; ///< the absolute path of the state that it has
                                                                     ///< saved

/// Returns the settings for the world of clusters. @param where the leader's HOST:PORT
/// @error as `parse_endpoint`
actors::node_settings settings_of(const program& p, const node_options& node, const std::string& where,
                                  actors::credentials shows);

/// Returns the identity that the node shows to others; null without certificates. @error errc::io, errc::bad_data
std::shared_ptr<const actors::tls_identity> identity_of(const node_options& node);

/// True if only this machine reaches that address.
bool is_loopback(const std::string& host);

/// @error errc::usage unless each node has a worker
void require_workers(std::size_t nodes, std::size_t workers);

/// @param allowed true with certificates, or if the user insists
/// @error errc::usage for an address that other machines reach, unless that is allowed
void require_private(const std::string& flag, const std::string& address, bool allowed);

} // namespace gossamer::apps
