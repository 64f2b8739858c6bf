#pragma once

#include "gossamer/actors/protocol/control.hpp"
#include "gossamer/actors/run/ledger.hpp"

namespace gossamer::actors {

/// The totals of a run so far, as one process knows them. Every process keeps them: for its own workers they are exact,
/// for others as the leader told last. All nodes tell a new leader, which adds the newest of everything, so that counts
/// never go back.
///
/// leader -> nodes that vote, twice a second and before each evaluation is written down; and to newcomers
/// any -> a new leader
struct run_books {
  ledger counted;
  std::uint64_t unreported = 0; ///< workers' lives that ended with the loss of their node: their last work is unknown

  void merge(const run_books& other) {
    counted.merge(other.counted);
    unreported = std::max(unreported, other.unreported);
  }
};

template <class Inspector>
decltype(auto) inspect(Inspector& f, run_books& m) {
  return f(m.counted, m.unreported);
}

} // namespace gossamer::actors
