#pragma once

#include "gossamer/actors/agreement/coordination.hpp"
#include "gossamer/actors/worker/orders.hpp"

#include <optional>
#include <variant>

namespace gossamer::actors {

/// A node's report to the leader about its workers. Repeated to every new leader.
using leader_report =
    std::variant<consensus::wish, worker_joined, worker_paused, worker_finished, worker_lost, worker_waits>;

/// A report to another node, never to the node itself.
struct report_to {
  consensus::node_number node = 0;
  leader_report what;
};
/// This process leads from now on, and does what only one may do: it counts, evaluates, and ends the run. With
/// `lead_left` it leads no more, and forgets what it knew as leader.
struct lead_taken {};
struct lead_left {};
/// These nodes have a new life or a new address. Precedes every order that speaks to them.
struct nodes_moved {
  std::vector<consensus::node_number> which;
};
/// This node has left the run, as it was told to: its process may end.
struct node_has_left {};
/// Another process leads now. It does not know yet what the workers of this process have done.
struct account_for {
  consensus::node_number leader = 0;
};

/// One process of a run, as a state machine without actors, threads and clocks. It hosts workers, agrees with the other
/// processes on the members of the run (`consensus::delegate`), makes its workers follow, and looks after the run while
/// it leads (`coordination`). Every process has one; none is special.
///
/// A value: it can be copied, compared by its bytes, saved and read back. Threads: as a value.
class node_protocol {
public:
  using node_number = consensus::node_number;
  /// Orders that name a worker apply to a worker of this process. The exception is `restart_worker`, which goes to the
  /// node that hosts the rank. A `snapshot_request` and a `save_checkpoint` are for the workers of all nodes.
  using order = std::variant<start_worker, stop_worker, hold_steps, decision, consensus::post, report_to, account_for,
                             nodes_moved, lead_taken, lead_left, node_has_left, snapshot_request, save_checkpoint,
                             restart_worker, forget_worker, welcome_worker, end_run, run_failed>;
  using orders = std::vector<order>;

  /// A process with which the run begins. @param e, rules outlive this object
  node_protocol(const experiment& e, const consensus::charter& rules, node_number self,
                const consensus::resolution& first);
  /// A process that joins later. @param own as for consensus::delegate
  node_protocol(const experiment& e, const consensus::charter& rules, node_number self, const consensus::process& own);

  /// Starts the workers with which the run begins.
  orders begin();

  // -- messages and health of other nodes. @error as consensus::delegate

  orders on(const consensus::message& m);
  orders on(const consensus::health& h);
  orders on(const leader_report& m);

  // -- reports of workers of this process

  orders on(const worker_holds& m);
  orders on(const worker_joined& m);
  orders on(const worker_paused& m);
  orders on(const worker_finished& m);
  orders on(const worker_lost& m);

  // -- leaving in good order (`parting`). Impossible while no other worker has a model; the request is repeated

  orders on(const retire_worker& m);
  /// Retires all workers of this node, and gives up its vote. Not for a node with a master, whose state no other node
  /// has.
  orders leave();

  // -- faults of workers

  orders on(const kill_worker& m);
  orders on(const restart_worker& m);

  orders on(const time_is& m);

  // -- newcomers (consensus::seats)

  /// Returns `nullopt` if no seat is free or another process leads.
  std::optional<consensus::candidacy> keep_seat(std::optional<node_number> wanted);
  void release_seat(const consensus::candidacy& c) { delegate_.release_seat(c); }
  /// @returns true if the node may join; the next resolution then lets it in
  bool admit(node_number node, const consensus::process& p) { return delegate_.admit(node, p); }

  /// Passes an event to the leader. Does nothing if another process leads.
  template <class Event>
  orders in_leader(const Event& event) {
    orders out;
    if (leader_)
      follow_leader(leader_->on(event), out);
    return settled(out);
  }
  /// Null if another process leads.
  const coordination* leader() const noexcept { return leader_ ? &*leader_ : nullptr; }
  /// The node to which reports go.
  node_number leader_node() const noexcept { return leader_node_; }
  const consensus::delegate& delegate() const noexcept { return delegate_; }
  const consensus::seats& seats() const noexcept { return delegate_.seats(); }
  /// True if rank `i` lives with this incarnation, by the last resolution and later news of this process's workers.
  bool is_current(rank i, std::uint32_t life) const;
  /// True if a worker or master of the last resolution lives, as far as is known: here, or on a node that is not gone.
  bool has_living_members() const;

  void fields(archive& a);

private:
  struct resident {
    std::uint32_t incarnation = 0;
    bool lives = false;
    bool waits = false; ///< to be started anew
    bool finished = false, joined = false;
    bool killed = false;                  ///< its death may not have been noticed yet
    bool retires = false, paused = false; ///< is to leave; has paused for that (`parting`)
    bool has_state = false;               ///< an earlier life had one here: a master goes on from it
    bool returns = false;                 ///< starts anew if it is too late to stay
  };

  bool lives_here(rank i, std::uint32_t incarnation) const;
  resident* living(rank i, std::uint32_t incarnation);
  bool is_master(rank i) const { return run_->is_master(i); }
  bool synchronous() const { return run_->algorithm->traits.synchronous; }
  void obey(const consensus::orders& all, orders& out);
  void ask_workers(orders& out);
  void say_where_they_stand(orders& out);
  void enter(const consensus::adopt& m, orders& out);
  void seat_leader(const consensus::resolution& r, const consensus::resolution& before, orders& out);
  void follow_leader(const coordination::orders& all, orders& out);
  void end_life(rank i, bool comes_again, orders& out);
  void report(const leader_report& m, orders& out);
  void take(const leader_report& m, orders& out);
  void report_again(orders& out);
  void ask_to_leave(orders& out);
  bool somebody_retires() const;
  orders settled(orders& out);

  const experiment* run_;
  const consensus::charter* rules_;
  consensus::delegate delegate_;
  std::map<rank, resident> residents_;
  std::set<rank> away_; // killed by a fault plan, which will bring them back

  std::uint32_t round_ = 0; // number of the last question to the workers
  std::set<rank> asked_;
  std::map<rank, consensus::standing> standings_;

  node_number leader_node_ = 0;
  std::optional<coordination> leader_;
  parting parting_; // the one of the last resolution
  double now_s_ = 0;
  bool leaves_ = false, has_left_ = false;
  double asked_to_leave_s_ = 0;
};

} // namespace gossamer::actors
