#pragma once

#include "gossamer/base/spec.hpp"

namespace gossamer::actors {

/// `weight-decay` of algorithms with an optimiser of their own: x <- x - gamma lambda x, whatever the gradient. 0 by
/// default.
inline parameter decoupled_decay() {
  return {.key = "weight-decay",
          .kind = parameter::type::real,
          .fallback = "0",
          .meaning = "lambda, of a decay that is decoupled from the gradient",
          .min = 0,
          .max = 1e6};
}

} // namespace gossamer::actors
