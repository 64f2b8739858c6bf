#pragma once

#include "gossamer/actors/simulated/simulated_world.hpp"
#include "gossamer/testing/spellings.hpp"

#include <map>
#include <vector>

namespace gossamer::testing_support {

/// Returns settings for laws of the simulated world: a small run that uses many features.
inline actors::run_settings lawful_run(const std::string& algorithm, std::uint64_t seed = 1) {
  actors::run_settings s;
  s.algorithm = algorithm;
  s.model = "quadratic";
  s.data = "quadratic:samples=400,dim=20";
  s.workers = 8;
  s.batch = 4;
  s.steps = 200;
  s.optimiser = optimiser_for(algorithm, "momentum:beta=0.5");
  s.lr = 0.02;
  s.seed = seed;
  return s;
}

constexpr std::size_t comers = 2;

/// Prepares the same run with room for `comers` more workers.
inline std::shared_ptr<const actors::experiment> growing_run(const std::string& algorithm) {
  auto settings = lawful_run(algorithm);
  settings.max_workers = settings.workers + comers;
  return actors::prepare(settings);
}

struct evaluations final : actors::run_observer {
  void on_evaluation(const actors::evaluation_record& r) override { records.push_back(r); }
  std::vector<actors::evaluation_record> records;
};

struct events final : actors::run_observer {
  void on_event(const actors::event_record& r) override { at.emplace(r.what, r.time_s); }
  std::vector<std::string> all() const {
    std::vector<std::string> result;
    for (const auto& [what, time_s] : at)
      result.push_back(what);
    return result;
  }
  std::map<std::string, double> at; ///< time of the first report of each event
};

} // namespace gossamer::testing_support
