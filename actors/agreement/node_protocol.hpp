#pragma once

#include "gossamer/actors/agreement/coordination.hpp"
#include "gossamer/actors/worker/orders.hpp"

#include <optional>
#include <variant>

namespace gossamer::actors {

/// What a node tells the one that leads of its workers. When the leader changes, it is told again.
using leader_report =
    std::variant<consensus::wish, worker_joined, worker_paused, worker_finished, worker_lost, worker_waits>;

/// To another node, never to itself.
struct report_to {
  consensus::node_number node = 0;
  leader_report what;
};
/// From now on this process leads, and does what only one may do: it counts, evaluates, and ends the run. Or
/// has it no more, and forgets what it knew of that.
struct lead_taken {};
struct lead_left {
  std::uint64_t lost = 0, returned = 0; ///< see coordination
};
/// These nodes are in another life now, or elsewhere. Comes before whatever speaks to them.
struct nodes_moved {
  std::vector<consensus::node_number> which;
};
/// This node takes part no more, as it was told: its process may end.
struct node_has_left {};
/// Another process leads now, and knows nothing of what this one's workers have done.
struct account_for {
  consensus::node_number leader = 0;
};

/// What one process of a run does, as a state machine without actors, threads and clocks: it hosts workers, agrees with
/// the others on who takes part (`consensus::delegate`), makes its workers follow, and, while it leads, looks
/// after the run (`coordination`). Every process has one; nobody is special.
///
/// A value: it can be copied, compared by its bytes, saved and read back. Threads: as a value.
class node_protocol {
public:
  using node_number = consensus::node_number;
  /// Those about workers are for workers of this process, but a `restart_worker`, which is for the node of that rank.
  /// A `snapshot_request` and a `save_checkpoint` are for the workers of all nodes.
  using order = std::variant<start_worker, stop_worker, hold_steps, decision, consensus::post, report_to, account_for,
                             nodes_moved, lead_taken, lead_left, node_has_left, snapshot_request, save_checkpoint,
                             restart_worker, forget_worker, welcome_worker, end_run, run_failed>;
  using orders = std::vector<order>;

  /// One of those with which the run begins. @param e, rules outlive this object
  /// @param checkpoint from which the run goes on; 0: it begins
  node_protocol(const experiment& e, const consensus::charter& rules, node_number self,
                const consensus::resolution& first, std::uint64_t checkpoint = 0);
  /// One that comes later. @param own see consensus::delegate
  node_protocol(const experiment& e, const consensus::charter& rules, node_number self, const consensus::process& own);

  /// Starts the workers with which the run begins.
  orders begin();

  // -- what other nodes say, and what is known of them. @error as consensus::delegate

  orders on(const consensus::message& m);
  orders on(const consensus::health& h);
  orders on(const leader_report& m);

  // -- what workers of this process say

  orders on(const holding& m);
  orders on(const worker_joined& m);
  orders on(const worker_paused& m);
  orders on(const worker_finished& m);
  orders on(const worker_lost& m);

  // -- who leaves, and has time to: see `parting`. Nothing comes of it when nobody else has a model; it is tried again

  orders on(const retire_worker& m);
  /// All workers of this node, and its vote. Not where a master lives, whose state nobody else has.
  orders leave();

  // -- what faults do to them

  orders on(const kill_worker& m);
  orders on(const restart_worker& m);

  orders on(const time_is& m);

  // -- who comes, see consensus::seats

  /// Nothing where no seat is free, or another process leads.
  std::optional<consensus::candidacy> keep_seat(std::optional<node_number> wanted);
  void release_seat(const consensus::candidacy& c) { delegate_.release_seat(c); }
  /// @returns whether it may come; then the next resolution lets it in
  bool admit(node_number node, const consensus::process& p) { return delegate_.admit(node, p); }

  /// An event for whoever leads; nothing happens where that is not this process.
  template <class Event>
  orders in_leader(const Event& event) {
    orders out;
    if (leader_)
      follow_leader(leader_->on(event), out);
    return settled(out);
  }
  /// Null where another process leads.
  const coordination* leader() const noexcept { return leader_ ? &*leader_ : nullptr; }
  /// Where reports go.
  node_number leader_node() const noexcept { return leader_node_; }
  const consensus::delegate& delegate() const noexcept { return delegate_; }
  const consensus::seats& seats() const noexcept { return delegate_.seats(); }
  /// As the last resolution says, and what has been heard of workers of this process since.
  bool is_current(rank i, std::uint32_t life) const;
  /// Of a former leader: the next one goes on behind this.
  void ordered_before(std::uint64_t checkpoint) {
    if (leader_)
      leader_->ordered_before(checkpoint);
  }

  void fields(archive& a);

private:
  struct resident {
    std::uint32_t incarnation = 0;
    bool lives = false;
    bool waits = false; ///< to be started anew
    bool finished = false, joined = false;
    bool killed = false;                  ///< which may not have been noticed
    bool retires = false, paused = false; ///< see `parting`
    bool has_state = false;               ///< some life of it had one here: a master goes on from that
    bool returns = false;                 ///< if it is too late for it to stay
  };

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

  std::uint32_t round_ = 0; // of questions to the workers
  std::set<rank> asked_;
  std::map<rank, consensus::standing> standings_;

  node_number leader_node_ = 0;
  std::optional<coordination> leader_;
  std::uint64_t checkpoint_ = 0;
  parting parting_; // of the last resolution
  double now_s_ = 0;
  bool leaves_ = false, has_left_ = false;
  double asked_to_leave_s_ = 0;
};

} // namespace gossamer::actors
