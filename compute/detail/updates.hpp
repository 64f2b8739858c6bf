#pragma once

#include "gossamer/base/host_device.hpp"
#include "gossamer/base/vec.hpp"

#include <cmath>

// The updates of optimisers, x <- x - lr * u, where u comes from g + decay * x: their rules, and the classes that apply
// them. Every operation is rounded once and none is contracted, hence the same bits on every machine.
namespace gossamer::compute::detail {

struct update_rates {
  float lr;
  float decay;
};

// A rule for one element, as GPUs compute it; updates.cpp has the same operations for whole registers.

struct sgd_rule {
  update_rates rates;

  GOSSAMER_HD void operator()(float& x, float g) const {
    g += rates.decay * x;
    x -= rates.lr * g;
  }
};

struct momentum_rule {
  update_rates rates;
  float beta;

  GOSSAMER_HD void operator()(float& x, float g, float& m) const {
    g += rates.decay * x;
    m = beta * m + g;
    x -= rates.lr * m;
  }
};

struct nesterov_rule {
  update_rates rates;
  float beta;

  GOSSAMER_HD void operator()(float& x, float g, float& m) const {
    g += rates.decay * x;
    m = beta * m + g;
    x -= rates.lr * (beta * m + g);
  }
};

struct adam_rule {
  update_rates rates;
  float pull; ///< decoupled weight decay
  float beta1, beta2;
  float rest1, rest2;     ///< 1 - beta
  float unbias1, unbias2; ///< 1 / (1 - beta^t)
  float epsilon;

  GOSSAMER_HD void operator()(float& x, float g, float& m, float& v) const {
    g += rates.decay * x;
    m = beta1 * m + rest1 * g;
    v = beta2 * v + rest2 * (g * g);
    x -= rates.lr * ((m * unbias1) / (std::sqrt(v * unbias2) + epsilon) + pull * x);
  }
};

/// Applies rules in one pass over the memory. This class works in the memory of the host, with SIMD chosen at run time.
///
/// All vectors of a call have equal sizes. Threads: any, several at once.
class updates {
public:
  virtual ~updates() = default;

  virtual void apply(const sgd_rule& rule, vec& x, const vec& g) const;
  virtual void apply(const momentum_rule& rule, vec& x, const vec& g, vec& m) const;
  virtual void apply(const nesterov_rule& rule, vec& x, const vec& g, vec& m) const;
  virtual void apply(const adam_rule& rule, vec& x, const vec& g, vec& m, vec& v) const;
};

} // namespace gossamer::compute::detail
