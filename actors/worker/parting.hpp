#pragma once

#include "gossamer/topology/graph.hpp"

#include <cstdint>
#include <map>

namespace gossamer::actors {

using topology::rank;

/// Workers that are about to leave. In a synchronous run all workers pause before one step, so that no round is broken
/// off. In an asynchronous run the leaving workers pause before their next step. The next view leaves them out.
struct parting {
  std::uint64_t at = 0;       ///< the step before which all pause; 0 in asynchronous runs
  std::map<rank, rank> heirs; ///< leaving worker -> worker that gets what it has (algorithm::handed_over)

  friend bool operator==(const parting&, const parting&) = default;
};

template <class Inspector>
decltype(auto) inspect(Inspector& f, parting& p) {
  return f(p.at, p.heirs);
}

} // namespace gossamer::actors
