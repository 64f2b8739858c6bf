#pragma once

#include "gossamer/actors/agreement/planning.hpp"
#include "gossamer/actors/agreement/seats.hpp"
#include "gossamer/base/archive.hpp"

#include <variant>

namespace gossamer::actors::consensus {

/// What never changes in a run, and is the same on all of its nodes.
struct charter {
  node_number nodes = 1;          ///< processes of the run, numbered from 0; not all of them need be there
  std::vector<node_number> homes; ///< of each rank; a node without ranks may vote
  bool synchronous = true;        ///< workers hold while there is a question; otherwise they never pause
  planning plan;
  double repeat_s = 0.1; ///< after this time questions are repeated
  /// After this time in which nothing is decided a voter that holds stands for election, the second after twice this
  /// time, and so on. Longer than the patience with which nodes suspect each other: the leader is changed at once when
  /// it is suspected, and this is for what no suspicion explains.
  double longest_hold_s = 5;
};

// -- events that are no messages --------------------------------------------------------------------------------------

/// All workers of this node. Synchronous algorithms: they hold since `freeze_workers`. Others: whenever one has died,
/// or shall be started anew.
struct workers_stand {
  std::vector<standing> where;     ///< who lives; lines are left out: the delegate knows them
  std::vector<standing> anew = {}; ///< who does not live, and may be started; `ended`: from its state, by its last life
};
/// A worker of this node has got the state that the last resolution promised. Not between `workers_stand` and `adopt`.
struct state_taken {
  rank who = 0;
  std::uint32_t incarnation = 0;
  std::uint64_t step = 0;
};
/// Told several times a second, and after any event that should have a consequence at once: what a delegate does
/// without being asked, it does then.
struct clock_says {
  double now_s = 0;
};

// -- orders -----------------------------------------------------------------------------------------------------------

struct post {
  std::vector<node_number> to; ///< never the node itself
  message what;
};
/// All workers of this node shall hold, neither begin a step nor end one nor take a state, until `adopt`: not for any
/// time that passes. Answered by `workers_stand`.
struct freeze_workers {};
/// This has been resolved. Workers of this node go on as it says:
/// * a rank that is in the view with the incarnation that it has here stays; if it is in `donors`, without a state;
/// * with another incarnation it is started anew; if it is not in `donors`, from the state that it had;
/// * that is not in the view stops. It keeps its model: it may become the best one that is left.
/// Seats have been changed by it already. Resolutions may have been skipped. A peer whose incarnation is not the one of
/// the resolution adopted before has been lost in between, also if no view says so.
struct adopt {
  resolution what;
  resolution before;              ///< that was adopted last; number 0: none
  std::vector<node_number> moved; ///< nodes that are in another life now, or elsewhere
};
/// A quorum has answered, and nobody among those has a model. The leader waits on; if nobody is merely suspected, the
/// run has failed.
struct models_are_lost {};

using order = std::variant<post, freeze_workers, adopt, models_are_lost>;
using orders = std::vector<order>;

/// One node's part in agreeing on who takes part in a run, from which step on, and where it stops; the agreement
/// survives the death of any process as long as a quorum of the voters lives. A state machine without actors, threads
/// and clocks: events in, orders out. Nothing needs a disk or a log.
///
/// Resolutions are numbered; the voters named by one elect the next. Any of them may take the *leader*:
///
///     leader:  hold ------> all         who promises to listen to no older leader, stops its workers, and answers
///             <------ holding          from a quorum of voters, and everybody who is not suspected
///             propose ---> voters      what one of them has accepted before (the newest), or else a plan
///             <------ accepted         from a quorum of voters: it is decided
///             proceed ---> all         who goes on as it says
///
/// Per number this is Lamport's Paxos for one value ("The part-time parliament", 1998), with the first phase for one
/// number only. That a resolution names the acceptors of its successor is as in "Vertical Paxos and primary-backup
/// replication" (Lamport, Malkhi, Zhou 2009), but without a master that is trusted: old voters elect new ones, as in
/// "Reconfiguring a state machine" (2010) with a window of one. What differs: the question also stops the workers, who
/// are thereby known to be no further than they said; a process that was started again is another voter; and the leader
/// asks everybody, but depends on a quorum only.
///
/// Safety needs no clock and no correct suspicion: no two resolutions have one number, each has been accepted by a
/// quorum of its predecessor's voters, and a worker that holds does not move until one is decided. Progress needs a
/// quorum that hears a leader which is not contradicted for four message delays. A leader that dies with an accepted
/// proposal leaves it to its successor, even if it leaves out who lives; the next resolution takes these back.
///
/// Voters: who votes and has answered, then voters that are silent and not gone, then, up to seven, nodes that have
/// the model. To be a voter and to have members are two things. The leader belongs to the first unsuspected voter;
/// others may take it, which costs time.
///
/// Cost, with n nodes and v voters: 3n + 2v messages, and four delays, to a new resolution. `last` is whole in them;
/// whoever puts them on the wire may send ranges of lives (`life_range`), which are short where few have died.
///
/// Peers are not trusted to be well-formed: what names unknown nodes or ranks, or absurd numbers, is refused before
/// anything has changed. They are trusted to follow the protocol.
///
/// A value: it can be copied, compared by its bytes, saved and sent. Threads: as a value.
class delegate {
public:
  /// One that was there when the run began: its workers have the initial model. @param rules outlives this object
  delegate(const charter& rules, node_number self, const resolution& first);
  /// One that comes later, or again, and remembers nothing. @param own in the life of its `candidacy`
  delegate(const charter& rules, node_number self, const process& own);

  /// @error errc::bad_packet when a peer says what cannot be; nothing has changed then. errc::failed when it knows
  ///        another resolution with the number of the last one: then the protocol is broken, and the run must end
  orders on(const message& m);
  orders on(const health& h);
  orders on(const wish& w);
  orders on(const workers_stand& w);
  orders on(const state_taken& s);
  orders on(const clock_says& c);

  /// See seats. A leader that is none any more has no seat to keep.
  std::optional<candidacy> keep_seat(std::optional<node_number> wanted) { return seats_.keep(wanted, last_.number()); }
  void release_seat(const candidacy& c) { seats_.release(c); }
  /// Somebody has come, whom the next resolution shall let in.
  /// @returns whether that is possible
  bool admit(node_number node, const process& p);

  /// This node is about to leave: it gives up its vote as soon as somebody else has one.
  void leave() noexcept { leaves_ = true; }
  /// Takes the leader, or asks again in it, if this node votes: whoever else has it. Never wrong, but who does it
  /// without need disturbs a leader that is at work.
  orders stand();

  const resolution& last() const noexcept { return last_; }
  node_number self() const noexcept { return self_; }
  const process& own() const noexcept { return own_; }
  std::uint32_t life() const noexcept { return own_.life; }
  bool votes() const { return last_.votes(self_, life()); }
  /// Who leads, as far as this node knows: wishes and suspicions are to be told to it. Nothing, if it suspects
  /// all voters.
  std::optional<node_number> leader() const;
  /// Whether it has been asked, and has not heard of a resolution since.
  bool holds() const noexcept { return held_; }
  bool asks() const noexcept { return phase_ == phase::asking; }
  bool proposes() const noexcept { return phase_ == phase::proposing; }
  /// The nodes whose answers the leader has not got, and waits for.
  std::vector<node_number> awaited() const;
  const consensus::seats& seats() const noexcept { return seats_; }
  /// The ballot under which this node is the leader now, or was last.
  const ballot& own_ballot() const noexcept { return mine_; }
  /// The newest leader that it listens to.
  const ballot& promised() const noexcept { return promised_; }
  /// What it has accepted as the successor of the last resolution.
  const proposal& accepted_proposal() const noexcept { return accepted_; }
  /// Whether this worker may make steps: it is a member of the last resolution, and has its model.
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

  // everybody
  delegate(const charter& rules, node_number self, const process& own, const resolution& last);
  void learn(const resolution& r, orders& out);
  void follow(standing& w, const resolution& next) const;
  bool refuses(const ballot& by, const resolution& last, orders& out) const;
  void promise(const ballot& by);
  bool can_answer() const { return stand_still_ || !rules_->synchronous || !hosts_workers(self_); }
  void answer(orders& out);
  holding standing_here() const;
  bool hosts_workers(node_number node) const;

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
  std::set<node_number> nodes_with_members(const resolution& r) const;
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
  process own_; // its seat may have been given to another meanwhile

  // A node has promised, accepted and learnt: nothing else must survive as long as it lives.
  ballot promised_;
  resolution last_;
  proposal accepted_;
  bool held_ = false;
  bool stand_still_ = false; // all of its workers do
  bool leaves_ = false;
  std::map<rank, standing> workers_; // of this node

  // The leader. An answer, or a vote, is that of a node's newest life.
  phase phase_ = phase::none;
  ballot mine_;
  std::uint64_t highest_term_ = 0;
  std::map<node_number, holding> answers_;
  resolution next_;
  std::set<node_number> agree_;
  bool as_wished_ = false; // what is proposed is its own plan, and it knew every wish when it made it

  consensus::seats seats_;
  std::set<node_number> declined_; // to take part, since this node believes what it does of them
  bool wished_ = false, stop_wished_ = false, save_wished_ = false;
  run_end why_ = run_end::planned;

  double now_s_ = 0, held_since_s_ = 0, said_s_ = 0, not_before_s_ = 0;
};

} // namespace gossamer::actors::consensus
