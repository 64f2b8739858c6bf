#pragma once

#include "gossamer/actors/run/experiment.hpp"
#include "gossamer/actors/worker/view_change.hpp"

#include <string>

namespace gossamer::actors {

/// Prepares a run whose gradients cost nothing.
inline std::shared_ptr<const experiment> small_run(const std::string& algorithm, const std::string& topology,
                                                   std::size_t workers, std::uint64_t steps = 10) {
  run_settings s;
  s.algorithm = algorithm;
  s.topology = topology;
  s.model = "quadratic";
  s.data = "quadratic:samples=24,dim=3";
  s.workers = workers;
  s.batch = 1;
  s.steps = steps;
  return prepare(s);
}

/// Returns a view of all participants in their first life.
inline view_change everybody_of(const experiment& e) {
  view_change v;
  for (rank i = 0; i < e.participants(); ++i)
    v.lives.emplace(i, 0);
  return v;
}

} // namespace gossamer::actors
