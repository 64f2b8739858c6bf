#pragma once

#include "gossamer/actors/agreement/planning.hpp"
#include "gossamer/actors/agreement/seats.hpp"
#include "gossamer/base/archive.hpp"

#include <variant>

namespace gossamer::actors::consensus {

/// The constants of a run, the same on all of its nodes.
struct charter {
  node_number nodes = 1;          ///< processes of the run, numbered from 0; not all of them need be there
  std::vector<node_number> homes; ///< node of each rank; a node without ranks may vote
  bool synchronous = true;        ///< workers hold while there is a question; otherwise they never pause
  planning plan;
  double repeat_s = 0.1; ///< after this time questions are repeated
  /// A voter that holds stands for election after this time without a decision; the second voter after twice this time,
  /// and so on. Longer than the patience with which nodes suspect each other: a suspected leader is replaced at once,
  /// and this limit is for what no suspicion explains.
  double longest_hold_s = 5;
};

// -- events that are no messages --------------------------------------------------------------------------------------

/// The state of all workers of this node. Synchronous algorithms: sent once they hold because of `hold_workers`.
/// Others: sent whenever a worker has died, or shall be started anew.
struct workers_stand {
  std::vector<standing> where;     ///< workers that live; without lines, which the delegate knows
  std::vector<standing> anew = {}; ///< workers that may be started; `ended`: from the state of their last life
};
/// A worker of this node has got the state that the last resolution promised. Never sent between `workers_stand` and
/// `adopt`.
struct state_taken {
  rank who = 0;
  std::uint32_t incarnation = 0;
  std::uint64_t step = 0;
};
/// The time, told several times a second, and after any event that should take effect at once: a delegate acts of its
/// own accord only then.
struct clock_says {
  double now_s = 0;
};

// -- orders -----------------------------------------------------------------------------------------------------------

struct post {
  std::vector<node_number> to; ///< never the node itself
  message what;
};
/// All workers of this node shall hold until `adopt`, however long that takes: neither begin a step nor end one nor
/// take a state. Answered by `workers_stand`.
struct hold_workers {};
/// A resolution has been decided. Workers of this node go on as it says:
/// * a rank that the view names with the incarnation that it has here stays; if it is in `donors`, without a state;
/// * a rank with another incarnation is started anew; if it is not in `donors`, from the state that it had;
/// * a rank that is not in the view stops. It keeps its model, which may become the best one left.
/// The seats have adopted it already. Resolutions may have been skipped. A peer whose incarnation differs from that in
/// the resolution adopted before has been lost in between, even if no view says so.
struct adopt {
  resolution what;
  resolution before;              ///< the one adopted last; number 0: none
  std::vector<node_number> moved; ///< nodes with a new life or a new address
};
/// A quorum has answered, and none of its workers has a model. The leader waits on; the run has failed if no node is
/// merely suspected.
struct models_are_lost {};

using order = std::variant<post, hold_workers, adopt, models_are_lost>;
using orders = std::vector<order>;

/// One node's part in the agreement on the members of a run, the step from which they take part, and the step where the
/// run stops. The agreement survives the death of any process as long as a quorum of the voters lives. A state machine
/// without actors, threads and clocks: events in, orders out. It needs neither a disk nor a log.
///
/// Resolutions are numbered; the voters named by one elect the next. Any voter may stand for election as *leader*:
///
///     leader:  hold ------> all         each promises to listen to no older leader, stops its workers, and answers
///             <------ holding          from a quorum of voters, and every node that is not suspected
///             propose ---> voters      the newest proposal that a voter has accepted before, or else a plan
///             <------ accepted         from a quorum of voters: it is decided
///             proceed ---> all         each goes on as it says
///
/// Per number this is Lamport's Paxos for one value ("The part-time parliament", 1998), with the first phase for one
/// number only. A resolution names the acceptors of its successor, as in "Vertical Paxos and primary-backup
/// replication" (Lamport, Malkhi, Zhou 2009), but without a trusted master: old voters elect new ones, as in
/// "Reconfiguring a state machine" (2010) with a window of one. Three differences: the question also stops the workers,
/// which are thereby known to be no further than they said; a restarted process is another voter; and the leader asks
/// all nodes, but depends on a quorum only.
///
/// Safety needs no clock and no correct suspicion: no two resolutions have one number, each has been accepted by a
/// quorum of its predecessor's voters, and a worker that holds does not move until one is decided. Progress needs a
/// quorum that hears a leader which is not contradicted for four message delays. A leader that dies leaves its accepted
/// proposal to its successor, even if the proposal leaves out nodes that live; the next resolution takes them back.
///
/// Voters of the next resolution: voters that have answered, then voters that are silent and not gone, then, up to
/// seven, nodes that have the model. A voter need not have members. The lead belongs to the first unsuspected voter;
/// another voter may take it, which costs time.
///
/// Cost, with n nodes and v voters: 3n + 2v messages, and four delays, to a new resolution. Messages contain `last`
/// whole; a transport may send ranges of lives (`life_range`) instead, which are short where few workers have died.
///
/// Peers are not trusted to be well-formed: a message that names unknown nodes or ranks, or absurd numbers, is refused
/// before anything has changed. They are trusted to follow the protocol.
///
/// A value: it can be copied, compared by its bytes, saved and sent. Threads: as a value.
class delegate {
public:
  /// A delegate that is there when the run begins: its workers have the initial model.
  /// @param rules outlives this object
  delegate(const charter& rules, node_number self, const resolution& first);
  /// A delegate that comes later, or again, and remembers nothing.
  /// @param own in the life of its `candidacy`
  delegate(const charter& rules, node_number self, const process& own);

  /// @error errc::bad_packet when a peer says what cannot be; nothing has changed then. errc::failed when a peer knows
  ///        another resolution with the number of the last one: the protocol is broken, and the run must end
  orders on(const message& m);
  orders on(const health& h);
  orders on(const wish& w);
  orders on(const workers_stand& w);
  orders on(const state_taken& s);
  orders on(const clock_says& c);

  /// Keeps a seat for a candidate, as seats::keep. A former leader has no seat to keep.
  std::optional<candidacy> keep_seat(std::optional<node_number> wanted) { return seats_.keep(wanted, last_.number()); }
  void release_seat(const candidacy& c) { seats_.release(c); }
  /// Lets a newcomer in with the next resolution.
  /// @returns false if that is not possible
  bool admit(node_number node, const process& p);

  /// Prepares this node to leave: it gives up its vote as soon as another node has one.
  void leave() noexcept { leaves_ = true; }
  /// Stands for election, or asks again as leader, if this node votes; whether or not another node leads. Always safe,
  /// but without need it disturbs a leader at work.
  orders stand();

  const resolution& last() const noexcept { return last_; }
  node_number self() const noexcept { return self_; }
  const process& own() const noexcept { return own_; }
  std::uint32_t life() const noexcept { return own_.life; }
  bool votes() const { return last_.votes(self_, life()); }
  /// Returns the leader, as far as this node knows: wishes and suspicions go to it. Returns `nullopt` if this node
  /// suspects all voters.
  std::optional<node_number> leader() const;
  /// True if a leader has asked, and no resolution has been heard of since.
  bool holds() const noexcept { return held_; }
  bool asks() const noexcept { return phase_ == phase::asking; }
  bool proposes() const noexcept { return phase_ == phase::proposing; }
  /// Returns the nodes whose answers the leader has not got, and waits for.
  std::vector<node_number> awaited() const;
  const consensus::seats& seats() const noexcept { return seats_; }
  /// The ballot under which this node is the leader now, or was last.
  const ballot& own_ballot() const noexcept { return mine_; }
  /// The ballot of the newest leader that this node listens to.
  const ballot& promised() const noexcept { return promised_; }
  /// The proposal that this node has accepted as the successor of the last resolution.
  const proposal& accepted_proposal() const noexcept { return accepted_; }
  /// True if this worker may make steps: it is a member of the last resolution, and has its model.
  bool is_abreast(rank i) const;

  void fields(archive& a);

private:
  enum class phase : std::uint32_t { none, asking, proposing };

  void receive(const hold& m, orders& out);
  void receive(const holding& m, orders& out);
  void receive(const propose& m, orders& out);
  void receive(const accepted& m, orders& out);
  void receive(const proceed& m, orders& out);
  void receive(const refused& m, orders& out);

  // every node
  delegate(const charter& rules, node_number self, const process& own, const resolution& last);
  void learn(const resolution& r, orders& out);
  void follow(standing& w, const resolution& next) const;
  bool refuses(const ballot& by, const resolution& last, orders& out) const;
  void promise(const ballot& by);
  bool can_answer() const { return stand_still_ || !rules_->synchronous || !hosts_workers(self_); }
  bool hosts_workers(node_number node) const { return hosts_workers_[node]; }
  void answer(orders& out);
  holding standing_here() const;

  // the leader
  void ask(orders& out);
  void conclude(orders& out);
  const resolution* inherited() const;
  std::optional<resolution> plan(orders& out) const;
  void choose_voters(resolution& next) const;
  bool may_vote(const holding& m) const;
  void forget_former_answer(node_number node);
  void count(orders& out);
  void give_up();
  bool is_wanted() const;
  bool may_witness(node_number n) const;
  std::vector<bool> nodes_with_members(const resolution& r) const;
  void remember_who_declined(const resolution& r);
  bool should_stand() const;
  double turn() const;
  void repeat(orders& out);
  std::vector<node_number> voters_not_among(const std::set<node_number>& some) const;

  static void mail(std::vector<node_number> to, const message& m, orders& out);
  void say(node_number to, const message& m, orders& out);
  void say_to_all(const message& m, orders& out) const;

  const charter* rules_;
  node_number self_;
  process own_; // its seat may belong to another process meanwhile

  // By node, and derived from the charter and the last resolution: no event walks all workers.
  std::vector<bool> hosts_workers_, has_members_;

  // Promises, acceptances and learnt resolutions: the only state that must survive as long as the node lives.
  ballot promised_;
  resolution last_;
  proposal accepted_;
  bool held_ = false;
  bool stand_still_ = false; // all of its workers hold
  bool leaves_ = false;
  std::map<rank, standing> workers_; // those of this node

  // State of the leader. Answers and votes are those of a node's newest life.
  phase phase_ = phase::none;
  ballot mine_;
  std::uint64_t highest_term_ = 0;
  std::map<node_number, holding> answers_;
  resolution next_;
  std::set<node_number> agree_;
  bool as_wished_ = false; // the proposal is its own plan, made with every wish known

  consensus::seats seats_;
  std::set<node_number> declined_; // nodes that took no part when asked, until beliefs about them change
  bool wished_ = false, stop_wished_ = false, save_wished_ = false;
  run_end why_ = run_end::planned;

  double now_s_ = 0, held_since_s_ = 0, said_s_ = 0, not_before_s_ = 0;
};

} // namespace gossamer::actors::consensus
