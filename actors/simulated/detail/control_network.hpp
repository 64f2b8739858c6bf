#pragma once

#include "gossamer/actors/simulation/time.hpp"

#include <caf/all.hpp>

#include <deque>
#include <functional>
#include <map>
#include <vector>

namespace gossamer::actors::detail {

/// What carries control messages between the processes of a simulated run, as connections do between those of a
/// cluster: in order, late by the latency of the link, and, while a partition is between two processes, not at all;
/// what was sent meanwhile comes when it is over. Messages take no bandwidth. When a process is dead, those that have
/// met an actor of it hear so behind all that it had sent.
///
/// Threads: one at a time, that of the simulation.
class control_network {
public:
  /// One start of a process: whoever is started again is another one.
  using start = std::size_t;

  struct surroundings {
    std::function<virtual_time(start from, start to, std::uint64_t number)> latency;
    std::function<virtual_time()> now;
    std::function<void(virtual_time when, std::function<void()> what)> at;
    std::function<bool(start from, start to)> is_cut; ///< whether a partition is between them
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
  /// What is on its way to it is lost; what it has sent still comes.
  void kill(start s);

  /// What one process sees of an actor of another: a proxy, which takes messages and can be monitored.
  caf::strong_actor_ptr seen(start by, start of, const caf::strong_actor_ptr& who);
  /// Does this in another process as soon as a message would be there, unless that one is dead then.
  void carry(start from, start to, std::function<void()> what) { carry(from, to, {}, std::move(what)); }
  /// As `carry` does with a message that the proxy of `to` was given.
  void deliver(start from, start to, const caf::strong_actor_ptr& target, caf::mailbox_element& letter);
  /// A partition has ended: what it held back comes now, but for what another one still holds.
  void flush();

private:
  /// From one process to another.
  struct direction {
    virtual_time last{}; ///< when the last message is there
    std::uint64_t sent = 0;
    std::deque<std::function<void()>> held;
  };

  void carry(start from, start to, virtual_time least, std::function<void()> what);
  void arrive(start from, start to, std::function<void()> what);

  caf::actor_system& system_;
  surroundings around_;
  std::vector<bool> alive_;
  std::map<std::pair<start, start>, direction> ways_;
  std::map<std::tuple<start, start, caf::actor_id>, caf::strong_actor_ptr> proxies_; // who sees, whose actor it is
};

} // namespace gossamer::actors::detail
