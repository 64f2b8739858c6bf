#pragma once

#include "gossamer/actors/protocol/resolution.hpp"

#include <variant>

namespace gossamer::actors::consensus {

// What nodes tell each other to agree. Plain data, as all messages here. Whoever speaks to those who may have missed
// something says what was resolved last, so every message lets them catch up.

/// How far a worker is.
struct standing {
  rank who = 0;
  std::uint32_t incarnation = 0; ///< the number of the resolution that started it anew; 0: of the run's beginning
  /// The number of the last resolution that its model belongs to. A step alone is no version of a model: one that was
  /// left out and lives on may be in the same step, with another model. 0: it has none.
  std::uint32_t line = 0;
  std::uint64_t step = 0;          ///< that it is in, or about to begin
  std::uint64_t next_exchange = 0; ///< algorithm::next_exchange
  bool retires = false;            ///< it is to leave
  bool paused = false;             ///< as the `parting` of the last resolution says
  bool ended = false;              ///< a master that has died, and left its state here

  friend bool operator==(const standing&, const standing&) = default;
};

/// leader -> all: begin no step, listen to no older leader, and answer.
struct hold {
  ballot by;
  resolution last; ///< that the leader knows

  friend bool operator==(const hold&, const hold&) = default;
};

/// any -> leader, when its workers hold
struct holding {
  ballot by; ///< as in the question
  node_number node = 0;
  process self;
  std::uint32_t number = 0; ///< of the last resolution that it knows: the leader's, or it would have refused
  proposal accepted;        ///< as the successor of that
  std::vector<standing> workers;
  bool leaves = false; ///< the node, when its workers have

  friend bool operator==(const holding&, const holding&) = default;
};

/// leader -> voters
struct propose {
  ballot by;
  resolution last, next;

  friend bool operator==(const propose&, const propose&) = default;
};

/// voter -> leader: it will tell every later leader
struct accepted {
  ballot by;
  node_number node = 0;
  std::uint32_t life = 0;
  std::uint32_t number = 0; ///< of what was proposed

  friend bool operator==(const accepted&, const accepted&) = default;
};

/// any -> any: this has been decided
struct proceed {
  resolution last;

  friend bool operator==(const proceed&, const proceed&) = default;
};

/// any -> leader: there is a newer leader, or a newer resolution
struct refused {
  ballot by; ///< whose question it was
  ballot promised;
  resolution last;

  friend bool operator==(const refused&, const refused&) = default;
};

/// The leader shall see to another resolution, whoever it believes to be there: a worker has died although its node
/// lives, or shall be started anew, or has got the model, so that its node may vote. `stop`: no more steps than are
/// under way. `save`: workers of a synchronous run shall save their states before the first step that nobody has begun.
struct wish {
  bool stop = false;
  run_end why = run_end::planned;
  bool save = false;
};

using message = std::variant<hold, holding, propose, accepted, proceed, refused>;

template <class Inspector>
decltype(auto) inspect(Inspector& f, standing& s) {
  return f(s.who, s.incarnation, s.line, s.step, s.next_exchange, s.retires, s.paused, s.ended);
}
template <class Inspector>
decltype(auto) inspect(Inspector& f, hold& m) {
  return f(m.by, m.last);
}
template <class Inspector>
decltype(auto) inspect(Inspector& f, holding& m) {
  return f(m.by, m.node, m.self, m.number, m.accepted, m.workers, m.leaves);
}
template <class Inspector>
decltype(auto) inspect(Inspector& f, propose& m) {
  return f(m.by, m.last, m.next);
}
template <class Inspector>
decltype(auto) inspect(Inspector& f, accepted& m) {
  return f(m.by, m.node, m.life, m.number);
}
template <class Inspector>
decltype(auto) inspect(Inspector& f, proceed& m) {
  return f(m.last);
}
template <class Inspector>
decltype(auto) inspect(Inspector& f, refused& m) {
  return f(m.by, m.promised, m.last);
}
template <class Inspector>
decltype(auto) inspect(Inspector& f, wish& w) {
  return f(w.stop, w.why, w.save);
}

} // namespace gossamer::actors::consensus
