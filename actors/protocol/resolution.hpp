#pragma once

#include "gossamer/actors/frames/endpoint.hpp"
#include "gossamer/actors/protocol/control.hpp"
#include "gossamer/actors/telemetry/record.hpp"

#include <compare>
#include <set>

namespace gossamer::actors::consensus {

/// Each process of a run has a number, and a life.
using node_number = std::uint32_t;

/// A process that takes part, or votes.
struct process {
  /// 0 for a process with which the run begins; others get theirs from `seats`. A restarted process has a later life.
  std::uint32_t life = 0;
  endpoint data, control; ///< where its data plane listens, and where others reach its door

  friend bool operator==(const process&, const process&) = default;
};

/// More voters do not make a run safer, but each costs messages: of seven, three may die at the same moment.
inline constexpr std::size_t most_voters = 7;

/// A leader and its attempt. Compared whole, not by the term alone: two leaders may choose the same term.
struct ballot {
  std::uint64_t term = 0; ///< 0: no node has ever asked
  node_number node = 0;
  std::uint32_t life = 0;

  friend auto operator<=>(const ballot&, const ballot&) = default;
};

/// The agreement of all nodes of a run: a decision, and the voters that elect the next one. Whole, so the newest
/// replaces all before it. Number 0: nothing is known yet.
struct resolution {
  decision what;
  bool stopping = false; ///< no more steps than are under way; the limit never rises again
  run_end why = run_end::planned;
  std::map<node_number, process> nodes; ///< the nodes that it names, voters among them
  std::set<node_number> voters;         ///< electors of the next one
  node_number leader = 0; ///< its author, which looks after the run until the next one; all nodes agree on that

  std::uint32_t number() const noexcept { return what.number; }
  /// True if this names that life of a node. A restarted process has another life.
  bool knows(node_number node, std::uint32_t life) const;
  /// True if this process is a voter. A restarted process is none: it has forgotten what it promised.
  bool votes(node_number node, std::uint32_t life) const { return voters.contains(node) && knows(node, life); }
  /// True for a majority of the voters, or half of them with the lowest one: two such sets have a voter in common.
  bool elected_by(const std::set<node_number>& some) const;

  friend bool operator==(const resolution& a, const resolution& b);
};

/// The proposal that a voter has accepted as the successor of its last resolution. Number 0: none.
struct proposal {
  ballot by;
  resolution what;

  friend bool operator==(const proposal&, const proposal&) = default;
};

/// Returns the resolution with which a run begins, without a vote.
/// @param voters at most `most_voters`; a process without workers may be one of them, so that a run on two hosts
///        survives the death of either
/// @param homes node of each rank
/// @param limit no step from this one on begins
/// @param absent ranks that no process has yet
resolution founding(const std::vector<node_number>& homes, const std::set<node_number>& voters, std::uint64_t limit,
                    const std::set<rank>& absent = {});

template <class Inspector>
decltype(auto) inspect(Inspector& f, ballot& b) {
  return f(b.term, b.node, b.life);
}
template <class Inspector>
decltype(auto) inspect(Inspector& f, process& p) {
  return f(p.life, p.data, p.control);
}
template <class Inspector>
decltype(auto) inspect(Inspector& f, resolution& r) {
  return f(r.what, r.stopping, r.why, r.nodes, r.voters, r.leader);
}
template <class Inspector>
decltype(auto) inspect(Inspector& f, proposal& p) {
  return f(p.by, p.what);
}

} // namespace gossamer::actors::consensus
