#pragma once

#include "gossamer/actors/run/run_settings.hpp"

namespace gossamer::testing_support {

/// A convex problem whose frames are large enough to take time on a wire.
inline actors::run_settings quadratic_run(const std::string& algorithm, std::size_t workers, std::uint64_t steps) {
  actors::run_settings s;
  s.algorithm = algorithm;
  s.model = "quadratic";
  s.data = "quadratic:samples=400,dim=1000";
  s.workers = workers;
  s.batch = 10;
  s.steps = steps;
  s.optimiser = "sgd";
  s.lr = 0.02;
  return s;
}

} // namespace gossamer::testing_support
