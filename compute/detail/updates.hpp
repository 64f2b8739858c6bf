#pragma once

#include <span>

namespace gossamer::compute::detail {

/// What all updates have: x <- x - lr * u, where u comes from g + decay * x.
struct update_rates {
  float lr;
  float decay;
};

struct adam_rates {
  float beta1, beta2;
  float rest1, rest2;     ///< 1 - beta
  float unbias1, unbias2; ///< 1 / (1 - beta^t)
  float epsilon;
};

/// One pass over the memory each, with SIMD chosen at run time; every operation is rounded once and
/// none is contracted, hence the same bits on every machine. All spans of a call have equal sizes.
void sgd_update(std::span<float> x, std::span<const float> g, update_rates rates) noexcept;
void momentum_update(std::span<float> x, std::span<const float> g, std::span<float> m, float beta,
                     update_rates rates) noexcept;
void nesterov_update(std::span<float> x, std::span<const float> g, std::span<float> m, float beta,
                     update_rates rates) noexcept;
void adam_update(std::span<float> x, std::span<const float> g, std::span<float> m, std::span<float> v,
                 const adam_rates& adam, update_rates rates) noexcept;

} // namespace gossamer::compute::detail
