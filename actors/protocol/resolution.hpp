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
  /// Of those with which the run begins 0; of others see `seats`. Whoever is started again has a later one.
  std::uint32_t life = 0;
  endpoint data, control; ///< where its data plane listens, and where others reach its door

  friend bool operator==(const process&, const process&) = default;
};

/// More do not make a run safer, but each costs messages: of seven, three may die at the same moment.
inline constexpr std::size_t most_voters = 7;

/// Who leads, in which attempt. Compared whole, not by the term alone: two leaders may choose the same term.
struct ballot {
  std::uint64_t term = 0; ///< 0: nobody has ever asked
  node_number node = 0;
  std::uint32_t life = 0;

  friend auto operator<=>(const ballot&, const ballot&) = default;
};

/// What all nodes of a run have agreed on: a decision, and who elects the next one. Whole, so the newest replaces all
/// before it. 0 as the number: nothing is known yet.
struct resolution {
  decision what;
  bool stopping = false; ///< no more steps than are under way; the limit never rises again
  run_end why = run_end::planned;
  std::map<node_number, process> nodes; ///< that this speaks of, voters among them
  std::set<node_number> voters;         ///< who elects the next one
  node_number leader = 0; ///< who has planned this: it looks after the run until the next one, and all agree on that

  std::uint32_t number() const noexcept { return what.number; }
  /// Whether this speaks of that life of a node. A process that was started again is another one.
  bool knows(node_number node, std::uint32_t life) const;
  /// Whether this process is a voter. One that was started again has forgotten what it promised.
  bool votes(node_number node, std::uint32_t life) const { return voters.contains(node) && knows(node, life); }
  /// A majority of the voters, or half of them with the lowest one: two such sets have a voter in common.
  bool elected_by(const std::set<node_number>& some) const;

  friend bool operator==(const resolution& a, const resolution& b);
};

/// What a voter has accepted as the successor of its last resolution. Number 0: nothing.
struct proposal {
  ballot by;
  resolution what;

  friend bool operator==(const proposal&, const proposal&) = default;
};

/// The one that a run begins with, without a vote.
/// @param voters at most `most_voters`; a process without workers may be one of them, so that a run on two hosts
///        survives the death of either
/// @param homes on which node each rank is
/// @param limit no step from this one on begins
/// @param absent ranks that nobody has yet
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
