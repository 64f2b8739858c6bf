#pragma once

#include "gossamer/actors/simulation/time.hpp"

#include <caf/all.hpp>

#include <deque>
#include <functional>
#include <map>
#include <vector>

namespace gossamer::actors::detail {

/// Carries control messages between the processes of a simulated run, as connections do in a cluster: in order, and
/// late by the latency of the link. A partition between two processes holds messages back until it is over. Messages
/// take no bandwidth. Processes that have met an actor of a dead process hear of its death behind all that it had sent.
///
/// Threads: one at a time, that of the simulation.
class control_network {
public:
  /// One start of a process: a process that is started again has another one.
  using start = std::size_t;

  struct surroundings {
    std::function<virtual_time(start from, start to, std::uint64_t number)> latency;
    std::function<virtual_time()> now;
    std::function<void(virtual_time when, std::function<void()> what)> at;
    std::function<bool(start from, start to)> is_cut; ///< true if a partition is between them
    virtual_time detection{}; ///< from the death of a process to the moment at which the others hear of it
  };

  control_network(caf::actor_system& system, surroundings around) : system_(system), around_(std::move(around)) {}
  control_network(const control_network&) = delete;
  control_network& operator=(const control_network&) = delete;
  ~control_network() = default;

  start add() {
    alive_.push_back(true);
    return alive_.size() - 1;
  }
  bool is_alive(start s) const { return alive_[s]; }
  /// Ends a process. Messages on their way to it are lost; those that it has sent still come.
  void kill(start s);

  /// Returns one process's view of an actor of another: a proxy, which takes messages and can be monitored.
  caf::strong_actor_ptr seen(start by, start of, const caf::strong_actor_ptr& who);
  /// Calls `what` in another process as soon as a message would be there, unless that process is dead then.
  void carry(start from, start to, std::function<void()> what) { carry(from, to, {}, std::move(what)); }
  /// Carries a message that the proxy of an actor of `to` was given.
  void deliver(start from, start to, const caf::strong_actor_ptr& target, caf::mailbox_element& letter);
  /// Delivers messages that an ended partition held back, one after the other, but for those that another one holds.
  void flush();

private:
  /// The way from one process to another.
  struct direction {
    virtual_time last{}; ///< arrival of the last message
    std::uint64_t sent = 0;
    std::deque<std::function<void()>> held;
  };

  void carry(start from, start to, virtual_time least, std::function<void()> what);
  void arrive(start from, start to, std::function<void()> what);
  void let_through(start from, start to);

  caf::actor_system& system_;
  surroundings around_;
  std::vector<bool> alive_;
  std::map<std::pair<start, start>, direction> ways_;
  std::map<std::tuple<start, start, caf::actor_id>, caf::strong_actor_ptr> proxies_; // keys: viewer, owner, actor
};

} // namespace gossamer::actors::detail
