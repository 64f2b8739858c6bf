#pragma once

#include "gossamer/actors/protocol/resolution.hpp"

#include <variant>

namespace gossamer::actors::consensus {

// Messages by which nodes agree. Plain data, as all messages here. A message to nodes that may have missed a resolution
// contains the last one, so that they can catch up.

/// Progress of a worker.
struct standing {
  rank who = 0;
  std::uint32_t incarnation = 0; ///< number of the resolution that started it anew; 0: it is there since the run began
  /// The number of the last resolution that its model belongs to; 0: it has no model. A step alone is no version of a
  /// model: a worker that was left out and lives on may be in the same step, with another model.
  std::uint32_t line = 0;
  std::uint64_t step = 0;          ///< the one it is in, or about to begin
  std::uint64_t next_exchange = 0; ///< algorithm::next_exchange
  bool retires = false;            ///< it is to leave
  bool paused = false;             ///< as the `parting` of the last resolution says
  bool ended = false;              ///< a master that has died, and left its state here

  friend bool operator==(const standing&, const standing&) = default;
};

/// leader -> all: begin no step, listen to no older leader, and answer.
struct hold {
  ballot by;
  resolution last; ///< the last one that the leader knows

  friend bool operator==(const hold&, const hold&) = default;
};

/// any -> leader: all workers of the sender hold
struct holding {
  ballot by; ///< as in the question
  node_number node = 0;
  process self;
  std::uint32_t number = 0; ///< number of the last resolution it knows: the leader's, or it would have refused
  proposal accepted;        ///< accepted as the successor of that resolution
  std::vector<standing> workers;
  bool leaves = false; ///< true if the node leaves once its workers have left

  friend bool operator==(const holding&, const holding&) = default;
};

/// leader -> voters: accept `next` as the successor of `last`
struct propose {
  ballot by;
  resolution last, next;

  friend bool operator==(const propose&, const propose&) = default;
};

/// voter -> leader: the voter will report the proposal to every later leader
struct accepted {
  ballot by;
  node_number node = 0;
  std::uint32_t life = 0;
  std::uint32_t number = 0; ///< number of the proposal

  friend bool operator==(const accepted&, const accepted&) = default;
};

/// any -> any: this has been decided
struct proceed {
  resolution last;

  friend bool operator==(const proceed&, const proceed&) = default;
};

/// any -> leader: there is a newer leader, or a newer resolution
struct refused {
  ballot by; ///< ballot of the question
  ballot promised;
  resolution last;

  friend bool operator==(const refused&, const refused&) = default;
};

/// Asks the leader for another resolution, whatever it believes of the nodes: a worker has died although its node
/// lives, or shall be started anew, or has got the model, so that its node may vote. `stop`: no more steps than are
/// under way. `save`: workers of a synchronous run save their states before the first step that no worker has begun.
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
