#pragma once

#include "gossamer/actors/cluster/cluster_world.hpp"
#include "gossamer/actors/cluster/tunnel_middleman.hpp"
#include "gossamer/actors/data_plane/data_plane.hpp"
#include "gossamer/actors/faults/board.hpp"
#include "gossamer/actors/node/node_actor.hpp"
#include "gossamer/actors/node/rendezvous.hpp"
#include "gossamer/actors/node/run_surroundings.hpp"
#include "gossamer/actors/real_time/real_time.hpp"
#include "gossamer/actors/real_time/threads.hpp"

#include <caf/io/all.hpp>

#include <atomic>
#include <mutex>

// Common parts of the process that leads and of processes that join.
namespace gossamer::actors::detail {

inline constexpr auto look_every = std::chrono::milliseconds(100); ///< period of looking for interrupts

/// Threads of a control plane besides those of its system: the tunnel, its look-ups of names, CAF's middleman and its
/// actor, and the actor that connects.
inline constexpr std::size_t threads_of_control = 5;
/// Threads of a node besides: the data plane, and the reader of files.
inline constexpr std::size_t threads_of_node = 2;

struct cluster_config : caf::actor_system_config {
  explicit cluster_config(std::size_t threads);
};

/// The meeting place of actors of several processes: an actor system, and a tunnel for its connections.
class control_plane {
public:
  /// @error errc::failed when its threads cannot be made
  explicit control_plane(const node_settings& s);
  control_plane(const control_plane&) = delete;
  control_plane& operator=(const control_plane&) = delete;
  ~control_plane(); ///< waits until all actors have ended

  /// @returns `where` with the port that was found @error errc::io
  endpoint publish(const caf::actor& door, const endpoint& where);
  const caf::io::middleman_actor& middleman() const noexcept { return middleman_.handle(); }
  /// Frees the middleman, which makes one connection at a time, where nobody waits for the present one any more.
  void stop_connecting() { tunnel_.stop_connecting(); }
  /// Bounds the messages on connections from now on by the needs of such a run.
  void expect(std::size_t participants) { tunnel_.bound_messages(most_control_bytes(participants)); }
  /// Returns why a connection has failed.
  std::string describe(const caf::error& e) const;
  /// Returns what to do about that. @param otherwise the advice where no process is there, or answers
  std::string advice(const caf::error& e, const std::string& otherwise) const;
  /// @error errc::usage when the process there has refused the token: to try again does not help
  void require_right_token(const endpoint& where) const;

private:
  struct enough_threads {
    explicit enough_threads(std::size_t count) { require_threads(count); }
  };

  [[no_unique_address]] enough_threads checked_; // first: what is half made could not end
  tunnel tunnel_;                                // outlives all that write into it
  cluster_config config_;

public:
  caf::actor_system system;

private:
  tunnel_middleman middleman_;
};

/// Returns the door of the leader at `s.where`, once there is one.
/// @error errc::io when there is none for so long, with the remedy; errc::usage when the token is wrong
door_interface::handle connect(caf::scoped_actor& self, control_plane& control, const node_settings& s,
                               std::chrono::milliseconds wait, const std::string& remedy);

/// Returns the introduction of the message at hand: the leader's words, unless this process's own node has said it.
std::string words_before_news(const caf::scoped_actor& self, const caf::actor& node);

/// Passes complaints to an actor. Keeps those that come before there is one.
class complaints {
public:
  void say(node_lost m) {
    const std::scoped_lock lock{mutex_};
    to_ ? caf::anon_send(to_, std::move(m)) : early_.push_back(std::move(m));
  }
  void send_to(const caf::actor& to) {
    const std::scoped_lock lock{mutex_};
    to_ = to;
    for (auto& m : std::exchange(early_, {}))
      caf::anon_send(to_, std::move(m));
  }

private:
  std::mutex mutex_;
  caf::actor to_;
  std::vector<node_lost> early_;
};

/// A data plane of this process, for the length of a scope: its thread runs workers, and can be waited for here only.
class scoped_plane {
public:
  /// @param complain is told which node cannot be reached any more, and why
  scoped_plane(control_plane& control, const experiment& e, const run_offer& offer, const fingerprint& print,
               const node_settings& s, std::string host, const std::shared_ptr<complaints>& complain);
  scoped_plane(const scoped_plane&) = delete;
  scoped_plane& operator=(const scoped_plane&) = delete;
  ~scoped_plane() { shared->close(); }

  std::shared_ptr<data_plane> shared; ///< workers may hold it longer
};

/// Spawns a server of the files that this process has prepared the run from, wherever they lie.
caf::actor spawn_files_of(caf::actor_system& system, const experiment& e);

/// Spawns the injector of a process, which begins its work when that process leads. It tells the nodes of others.
/// @param node this process's, set before faults begin
caf::actor spawn_injector(caf::actor_system& system, const experiment& e, const std::shared_ptr<fault_board>& board,
                          const run_surroundings& around, const std::shared_ptr<caf::actor>& node);

/// Returns the address that others connect to. They check that the certificate is for it, so an address may have to
/// become a name.
endpoint announced(endpoint where, const node_settings& s);

/// Fills in what a node knows of the others, and the ways to them.
/// @param world where faults are switched as the leader's injector does
void join_others(node_setup& setup, control_plane& control, const std::shared_ptr<data_plane>& net,
                 std::shared_ptr<const real_time> world, const node_settings& s, const cluster_plan& plan);

/// Whether this process leads. Threads: any.
using lead_flag = std::shared_ptr<std::atomic<bool>>;

/// Sets the flag until the node that gets this observer leads no more; then the injector stops.
std::shared_ptr<run_observer> while_leading(const lead_flag& leads, std::shared_ptr<run_observer> observer,
                                            const caf::actor& injector);

/// The way of a node out of a run that goes on: clean, if that does not take too long.
class departure {
public:
  /// @param wait before it asks
  departure(caf::scoped_actor& self, std::chrono::milliseconds patience, std::chrono::milliseconds wait = {})
      : self_(self), patience_(patience), wait_(wait) {}
  /// Called several times a second while this node shall leave. @error as `leave_interrupted`, after the patience
  void go_on(const caf::actor& node);

private:
  caf::scoped_actor& self_;
  std::chrono::milliseconds patience_, wait_;
  std::optional<caf::actor_clock::time_point> asks_at_;
  bool has_asked_ = false;
};

/// Tells the node of a process that leaves a run, however it leaves; a leading node then tells all others.
struct farewell {
  caf::scoped_actor& self;
  caf::actor node;
  std::chrono::milliseconds patience;
  std::string why = "the run failed"; ///< empty: as planned
  errc code = errc::failed;           ///< kind of the error that `why` tells

  ~farewell();
};

} // namespace gossamer::actors::detail
