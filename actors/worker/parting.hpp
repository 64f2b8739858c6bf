#pragma once

#include "gossamer/topology/graph.hpp"

#include <cstdint>
#include <map>

namespace gossamer::actors {

using topology::rank;

/// Workers that are about to leave. In a synchronous run all of them pause before one step, so that no round is broken
/// off; in others the leaving ones do before their next. Then, in the next view, they are left out.
struct parting {
  std::uint64_t at = 0;       ///< the step before which all pause; 0 in asynchronous runs
  std::map<rank, rank> heirs; ///< of those who leave: to whom they hand their residuals (algorithm::residual)

  friend bool operator==(const parting&, const parting&) = default;
};

template <class Inspector>
decltype(auto) inspect(Inspector& f, parting& p) {
  return f(p.at, p.heirs);
}

} // namespace gossamer::actors
