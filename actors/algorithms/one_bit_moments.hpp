#pragma once

#include "gossamer/actors/collectives/packed_mean.hpp"

#include <optional>
#include <vector>

namespace gossamer::actors {

/// Adam's moments m and v, the same on all workers, and lossy means in place of exact ones: the common part of 1-bit
/// Adam and 0/1 Adam. There is no bias correction, as in the authors' code.
///
/// Where v = 0, as for a pixel that no picture has, a sign would be a step of gamma s / epsilon. Such elements move by
/// their decay alone, and nothing is sent for them. (The authors' code asks its user for a mask.) A bucket's scale is
/// that of `scaled-sign`, |b|_1 / d, with which a code of signs loses least; theirs is |b|_2 / sqrt(d).
/// Threads: one at a time.
class one_bit_moments {
public:
  explicit one_bit_moments(const algorithm_setup& s);

  vec m;

  /// beta1 m + (1 - beta1) g
  vec momentum(const vec& g) const { return beta1_ * m + (1 - beta1_) * g; }
  /// m <- momentum(g), v <- beta2 v + (1 - beta2) g^2. Errors that are kept back stay where they belong, also where
  /// elements begin to move.
  void learn(const vec& g);
  /// The mean of all workers' vectors with error feedback at both ends (`fed_back_mean`), 0 where v = 0.
  /// Cost: that of bits(C) for the elements that move. A round that a loss interrupts is repeated.
  task<vec> lossy_mean(worker& w, vec of, std::uint64_t t);
  /// x <- x - rate (m / (sqrt(v) + epsilon) + lambda x)
  void move(vec& x, const vec& by, float rate) const;

  void fields(archive& a) {
    a(m)(v_);
    mean_.fields(a);
  }
  /// What is kept back, as `algorithm::residual`.
  vec residual() const;
  void take_over(const vec& residual) { mean_.take_over(compact(residual)); }
  void forget_errors() { mean_.forget(); }

private:
  vec compact(const vec& of) const;
  void spread(vec& into, const vec& chosen) const;

  vec v_;
  fed_back_mean mean_;
  float beta1_, beta2_, epsilon_, decay_;
};

/// The traits of algorithms with these moments.
algorithm_traits traits_of_one_bit_moments();
/// `warm-up`, an algorithm's own parameters, those of the moments, and `weight-decay`.
std::vector<parameter> with_one_bit_moments(std::vector<parameter> own, const char* epsilon = "1e-8");

} // namespace gossamer::actors
