#pragma once

#include "gossamer/actors/runtime/checkpoint.hpp"
#include "gossamer/actors/runtime/life_range.hpp"
#include "gossamer/actors/runtime/parting.hpp"
#include "gossamer/actors/runtime/view_change.hpp"
#include "gossamer/actors/runtime/worker_host.hpp"
#include "gossamer/actors/telemetry/record.hpp"
#include "gossamer/base/error.hpp"

#include <string>

namespace gossamer::actors {

// Control messages: all that crosses machines besides frames. Plain data without pointers or handles; `inspect`
// describes each of them, as CAF asks for it.

/// Nodes that differ in it must not talk to each other. Raised with every change of a message below.
inline constexpr std::uint32_t control_version = 10;

/// node -> worker, see worker::hold; answered by holding
struct hold_steps {
  std::uint32_t round = 0;
  bool left_out = false; ///< until further notice: the state is kept for a later life
};
struct holding {
  rank source = 0;
  std::uint32_t incarnation = 0;
  std::uint32_t round = 0;
  std::uint64_t step = 0, next_exchange = 0;
};

/// node -> worker, see worker::adopt and worker::proceed: what holds for all from now on. Part of a
/// `consensus::resolution`, whose number it has; a decision is whole, so the newest replaces all before it.
struct decision {
  std::uint32_t number = 0;
  view_change view;        ///< the one that was known, when its number was
  std::uint64_t limit = 0; ///< no step from this one on begins
  /// Before this step begins, synchronous workers save their states for a checkpoint of this number; 0: nowhere.
  std::uint64_t save_at = 0;
  actors::parting parting = {};
};

/// chair -> worker: a checkpoint of this number is wanted now
struct save_checkpoint {
  std::uint64_t number = 0;
};
/// node -> chair: this worker's part of a checkpoint is on its disk
struct part_saved {
  rank source = 0;
  std::uint32_t incarnation = 0;
  std::uint64_t checkpoint = 0;
  part_account part;
};
/// node -> chair: or cannot be
struct part_not_saved {
  std::uint64_t checkpoint = 0;
  std::string why;
};
/// chair -> node: this checkpoint is complete; what is older than the one before may go
struct checkpoint_complete {
  manifest whole; ///< kept on each machine
  std::uint64_t before = 0;
};

/// worker or master -> node -> chair, see worker::gradient_applied
struct gradient_applied {
  std::uint64_t staleness = 0;
};

/// worker -> node -> chair: it has the state of another worker
struct worker_joined {
  rank source = 0;
  std::uint32_t incarnation = 0;
  std::uint64_t step = 0;
};

/// worker -> node -> chair: it has paused as the `parting` says, and has given or got what is handed over
struct worker_paused {
  rank source = 0;
  std::uint32_t incarnation = 0;
};

/// worker -> node -> chair: its coroutines have ended
struct worker_finished {
  rank source = 0;
  std::uint32_t incarnation = 0;
};

/// node -> chair: this life is over
struct worker_lost {
  rank who = 0;
  std::uint32_t incarnation = 0;
};
/// node -> chair: this worker does not live, and may be started anew
struct worker_waits {
  rank who = 0;
};

/// chair -> node: all who were started before begin together; who is started later begins at once
struct begin_run {};

/// to the node's workers: this one shall live, in its next life; or shall not
struct start_worker {
  rank who = 0;
  std::uint32_t incarnation = 0;
};
struct stop_worker {
  rank who = 0;
};

/// fault injector -> chair -> node
struct kill_worker {
  rank who = 0;
  bool comes_back = false; ///< a restart_worker will follow
};
struct restart_worker {
  rank who = 0;
  bool if_gone = false; ///< one that lives stays as it is, also if it is about to leave
};
/// it shall leave: hand over what it has, and then end
struct retire_worker {
  rank who = 0;
};
struct pause_worker {
  rank who = 0;
  bool paused = false; ///< or to be resumed
};

/// node -> chair: it cannot exchange frames with that one any more
struct node_lost {
  std::uint32_t node = 0;
  std::string why;
};

/// chair -> node: it is there. A node's own are its `work_report`s
struct heartbeat {};

/// node -> chair: what its workers reported since the last one, in their order; to a new chair, the last of each
struct work_report {
  std::vector<step_report> steps;
  std::map<std::uint64_t, std::uint64_t> staleness; ///< how many `gradient_applied` of each
  std::uint64_t checkpoint = 0;                     ///< the newest that was ordered here
};

/// chair -> worker; answered by snapshot
struct snapshot_request {
  std::uint64_t evaluation = 0;
};

/// node -> chair: all of a snapshot but the model, which has been put aside there
struct snapshot_taken {
  rank source = 0;
  std::uint32_t incarnation = 0;
  std::uint64_t evaluation = 0, gradients = 0;
  traffic sent;
};
inline snapshot_taken without_model(const snapshot& s) {
  return {s.source, s.incarnation, s.evaluation, s.gradients, s.sent};
}

/// chair -> node: the mean of the models of these lives shall be formed, see `mean_gathering`
struct mean_request {
  std::uint64_t number = 0; ///< ascending; an evaluation is asked for again when nodes are lost
  std::uint64_t evaluation = 0;
  std::uint32_t root = 0; ///< the node that gets the mean
  std::vector<life_range> lives;
};

/// chair -> worker: how many updates all workers have done
struct run_progress {
  std::uint64_t updates = 0;
};

/// any -> chair: worth a line to the observer
struct run_event {
  std::string what;
};

/// any -> chair -> main
struct run_failed {
  errc code = errc::failed;
  std::string sentence, remedy;
};

template <class Inspector>
decltype(auto) inspect(Inspector& f, traffic& t) {
  return f(t.frames, t.payload_bits, t.wire_bits);
}
template <class Inspector>
decltype(auto) inspect(Inspector& f, step_report& r) {
  return f(r.source, r.incarnation, r.step, r.loss, r.sent, r.stale_frames);
}
template <class Inspector>
decltype(auto) inspect(Inspector& f, node_lost& m) {
  return f(m.node, m.why);
}
template <class Inspector>
decltype(auto) inspect(Inspector& f, work_report& r) {
  return f(r.steps, r.staleness, r.checkpoint);
}
template <class Inspector>
decltype(auto) inspect(Inspector& f, heartbeat&) {
  return f();
}
template <class Inspector>
decltype(auto) inspect(Inspector& f, begin_run&) {
  return f();
}
template <class Inspector>
decltype(auto) inspect(Inspector& f, hold_steps& m) {
  return f(m.round, m.left_out);
}
template <class Inspector>
decltype(auto) inspect(Inspector& f, holding& m) {
  return f(m.source, m.incarnation, m.round, m.step, m.next_exchange);
}
template <class Inspector>
decltype(auto) inspect(Inspector& f, decision& m) {
  return f(m.number, m.view, m.limit, m.save_at, m.parting);
}
template <class Inspector>
decltype(auto) inspect(Inspector& f, worker_paused& m) {
  return f(m.source, m.incarnation);
}
template <class Inspector>
decltype(auto) inspect(Inspector& f, retire_worker& m) {
  return f(m.who);
}
template <class Inspector>
decltype(auto) inspect(Inspector& f, save_checkpoint& m) {
  return f(m.number);
}
template <class Inspector>
decltype(auto) inspect(Inspector& f, part_account& p) {
  return f(p.digest, p.gradients, p.sent);
}
template <class Inspector>
decltype(auto) inspect(Inspector& f, manifest& m) {
  return f(m.checkpoint, m.workers, m.masters, m.steps, m.time_s, m.former_gradients, m.former_sent, m.parts);
}
template <class Inspector>
decltype(auto) inspect(Inspector& f, part_saved& m) {
  return f(m.source, m.incarnation, m.checkpoint, m.part);
}
template <class Inspector>
decltype(auto) inspect(Inspector& f, part_not_saved& m) {
  return f(m.checkpoint, m.why);
}
template <class Inspector>
decltype(auto) inspect(Inspector& f, checkpoint_complete& m) {
  return f(m.whole, m.before);
}
template <class Inspector>
decltype(auto) inspect(Inspector& f, gradient_applied& m) {
  return f(m.staleness);
}
template <class Inspector>
decltype(auto) inspect(Inspector& f, worker_joined& m) {
  return f(m.source, m.incarnation, m.step);
}
template <class Inspector>
decltype(auto) inspect(Inspector& f, worker_finished& m) {
  return f(m.source, m.incarnation);
}
template <class Inspector>
decltype(auto) inspect(Inspector& f, worker_lost& m) {
  return f(m.who, m.incarnation);
}
template <class Inspector>
decltype(auto) inspect(Inspector& f, worker_waits& m) {
  return f(m.who);
}
template <class Inspector>
decltype(auto) inspect(Inspector& f, kill_worker& m) {
  return f(m.who, m.comes_back);
}
template <class Inspector>
decltype(auto) inspect(Inspector& f, restart_worker& m) {
  return f(m.who, m.if_gone);
}
template <class Inspector>
decltype(auto) inspect(Inspector& f, pause_worker& m) {
  return f(m.who, m.paused);
}
template <class Inspector>
decltype(auto) inspect(Inspector& f, snapshot_request& m) {
  return f(m.evaluation);
}
template <class Inspector>
decltype(auto) inspect(Inspector& f, snapshot_taken& m) {
  return f(m.source, m.incarnation, m.evaluation, m.gradients, m.sent);
}
template <class Inspector>
decltype(auto) inspect(Inspector& f, life_range& r) {
  return f(r.first, r.ranks, r.incarnation);
}
template <class Inspector>
decltype(auto) inspect(Inspector& f, mean_request& m) {
  return f(m.number, m.evaluation, m.root, m.lives);
}
template <class Inspector>
decltype(auto) inspect(Inspector& f, run_progress& m) {
  return f(m.updates);
}
template <class Inspector>
decltype(auto) inspect(Inspector& f, run_event& m) {
  return f(m.what);
}
template <class Inspector>
decltype(auto) inspect(Inspector& f, run_failed& m) {
  return f(m.code, m.sentence, m.remedy);
}

} // namespace gossamer::actors
