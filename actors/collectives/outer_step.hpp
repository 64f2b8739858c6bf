#pragma once

#include "gossamer/base/archive.hpp"
#include "gossamer/base/registry.hpp"
#include "gossamer/base/vec.hpp"

#include <vector>

namespace gossamer::actors {

/// The outer optimiser of methods that average the models of workers which have taken many steps alone. With theta the
/// model that they began from and mean their mean now, Delta = theta - mean is their pseudo-gradient:
///
///   nesterov    u <- mu u + Delta;             theta <- theta - eta (Delta + mu u)     DiLoCo
///   heavy-ball  u <- mu u - eta Delta;         theta <- theta + u
///   slowmo      u <- mu u + Delta / gamma;     theta <- theta - eta gamma u            SlowMo
///   average     theta <- theta - eta Delta
///
/// u starts at 0, and gamma is the inner rate at the time of the step. For a constant Delta the first two tend to steps
/// of eta Delta / (1 - mu). Where gamma is constant, slowmo is heavy-ball.
///
/// Its state is the same on all workers that have done the same outer steps: one that comes back copies it.
/// Threads: one at a time.
class outer_optimiser {
public:
  /// @param given the parameters of `with_outer_step`
  /// @param theta the first one
  outer_optimiser(const arguments& given, const vec& theta);

  /// Moves theta. With eta = 1 and no momentum it is the mean, to the bit.
  /// @param inner_lr gamma; with 0, slowmo leaves theta where it is
  void step(vec& theta, const vec& mean, float inner_lr);
  void fields(archive& a) { a(u_); }

private:
  enum class rule { nesterov, heavy_ball, slowmo, average };

  rule rule_;
  float lr_, momentum_;
  vec u_; ///< empty without a momentum
};

/// An algorithm's own parameters, followed by those of the outer step: `outer`, `outer-lr` and `outer-momentum`.
std::vector<parameter> with_outer_step(std::vector<parameter> own);

/// `period`: steps of each worker from one exchange to the next; 10 by default.
parameter outer_period();
/// @param symbol in the algorithm's formula
parameter outer_lr(std::string fallback, std::string symbol);
parameter outer_momentum(std::string fallback, std::string symbol);

} // namespace gossamer::actors
