#pragma once

#include "gossamer/actors/hosting/last_states.hpp"
#include "gossamer/actors/hosting/messages.hpp"

#include <algorithm>
#include <functional>
#include <set>

namespace gossamer::actors {

/// The workers and masters that live in one process, as orders reach them. Threads: actor-confined.
class local_node {
public:
  struct parts {
    std::size_t participants = 0; ///< number in the whole run
    std::set<rank> absent = {};   ///< ranks that no process has when the run begins
    /// Starts a worker actor; called again with a higher incarnation when a worker is started anew.
    std::function<caf::actor(rank, std::uint32_t incarnation)> spawn;
    /// Returns the view that a decision names.
    std::function<std::shared_ptr<const view>(const view_change&)> view_of;
  };

  /// @param owner monitors the workers, and hands their down messages to `died`; outlives this object
  local_node(caf::event_based_actor* owner, parts given);
  local_node(const local_node&) = delete;
  local_node& operator=(const local_node&) = delete;
  ~local_node(); ///< its workers end with it

  void obey(const start_worker& m);
  void obey(const begin_run& m);
  void obey(const stop_worker& m);
  /// Pauses of one worker may overlap: it goes on after the last of them. They outlast its lives.
  void obey(const pause_worker& m);
  /// Goes to workers that are members; the others stand still.
  void obey(const decision& m);
  void obey(const hold_steps& m) { tell(m); }
  void obey(const snapshot_request& m) { tell(m); }
  void obey(const run_progress& m) { tell(m); }
  void obey(const save_checkpoint& m) { tell(m); }
  /// @returns the number of workers and masters that will answer
  std::size_t obey(const save_as_it_stands& m) {
    tell(m);
    return residents_.size();
  }

  /// True if this actor is the present life of the worker, and lives in this process.
  bool is_worker(rank i, const caf::strong_actor_ptr& actor) const;
  /// True if the actor is any worker of this process.
  bool has_worker(const caf::strong_actor_ptr& actor) const;
  /// Returns the worker that has ended; `nullopt` if it was none of this process.
  std::optional<worker_lost> died(const caf::down_msg& down);

private:
  struct resident {
    caf::actor actor;
    std::uint32_t incarnation = 0;
    std::uint32_t view = 0; ///< the last one that it was told of; it begins with the first
  };

  template <class Message>
  void tell(const Message& m) {
    for (const auto& [i, one] : residents_)
      owner_->send(one.actor, m);
  }
  std::shared_ptr<const roster> shared_roster() const { return std::make_shared<const roster>(roster_); }

  caf::event_based_actor* owner_;
  parts given_;
  std::map<rank, resident> residents_; // workers whose actors live
  std::map<rank, std::size_t> pauses_; // number of those that last
  roster roster_;                      // as the last view says
  bool begun_ = false;
};

} // namespace gossamer::actors
