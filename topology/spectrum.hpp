#pragma once

#include "gossamer/topology/bipartition.hpp"
#include "gossamer/topology/mixing.hpp"

#include <span>

namespace gossamer::topology {

/// Speed at which averaging with W removes differences between workers. With the eigenvalues 1 = l_1 >= l_2 >= .. >=
/// l_n of W:
struct spectrum {
  double rho = 0; ///< max(|l_2|, |l_n|); differences shrink by it in each step, so it must be below 1
  double mu = 0;  ///< max |l_i - 1| over i >= 2
  double gap = 1; ///< 1 - rho

  /// DCD-PSGD converges while its compression errs by less than this share of the compressed vector: (1 - rho)^2 > 4
  /// mu^2 alpha^2, that is alpha < (1 - rho) / (2 mu). Infinite for one worker. (Tang et al., "Communication
  /// compression for decentralized training", NeurIPS 2018, theorem 1.)
  double dcd_alpha_limit() const { return gap / (2 * mu); }
};

/// Eigenvalues in double precision; O(n^3). One worker has rho = mu = 0.
spectrum spectrum_of(const mixing_matrix& w);
/// The spectrum among `members` alone: absent workers have no neighbours and would only add eigenvalues of 1. Requires
/// that W joins no member to a node outside.
spectrum spectrum_of(const mixing_matrix& w, std::span<const rank> members);

/// AD-PSGD's rho = l_2(E[W_k]) for W_k = I - (e_i - e_j)(e_i - e_j)^T / 2, where i is a uniformly random active worker
/// and j a uniformly random neighbour of it; W_k is idempotent, hence E[W_k^T W_k] = E[W_k]. Active workers without
/// neighbours do not average. O(n^3). (Lian et al., ICML 2018, assumption 1.3.)
double pairwise_rho(const graph& g, const bipartition& roles);

} // namespace gossamer::topology
