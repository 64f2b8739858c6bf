#pragma once

#include "gossamer/actors/worlds/simulated_world.hpp"

#include <vector>

namespace gossamer::testing_support {

/// What laws of the simulated world run: small, but with everything in it.
inline actors::run_settings lawful_run(const std::string& algorithm, std::uint64_t seed = 1) {
  actors::run_settings s;
  s.algorithm = algorithm;
  s.model = "quadratic";
  s.data = "quadratic:samples=400,dim=20";
  s.workers = 8;
  s.batch = 4;
  s.steps = 200;
  s.optimiser = "momentum:beta=0.5";
  s.lr = 0.02;
  s.seed = seed;
  return s;
}

struct evaluations final : actors::run_observer {
  void on_evaluation(const actors::evaluation_record& r) override { records.push_back(r); }
  std::vector<actors::evaluation_record> records;
};

} // namespace gossamer::testing_support
