#pragma once

#include "gossamer/actors/protocol/control.hpp"
#include "gossamer/actors/run/ledger.hpp"

namespace gossamer::actors {

/// What a run has come to so far, as one process knows it. Every process keeps it: of its own workers it is exact, of
/// others it is what the leader told last. Whoever comes to lead is told by all, and adds the newest of everything, so
/// that counts never go back.
///
/// leader -> nodes that vote, twice a second and before each evaluation is written down; and to whoever comes
/// any -> a new leader
struct run_books {
  ledger counted;
  std::uint64_t lost = 0, returned = 0;
  std::uint64_t unreported = 0; ///< lives that ended with their process: what they did last, nobody knows

  void merge(const run_books& other) {
    counted.merge(other.counted);
    lost = std::max(lost, other.lost);
    returned = std::max(returned, other.returned);
    unreported = std::max(unreported, other.unreported);
  }
};

template <class Inspector>
decltype(auto) inspect(Inspector& f, run_books& m) {
  return f(m.counted, m.lost, m.returned, m.unreported);
}

} // namespace gossamer::actors
