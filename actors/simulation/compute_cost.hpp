#pragma once

#include "gossamer/actors/simulation/time.hpp"
#include "gossamer/base/philox.hpp"
#include "gossamer/base/registry.hpp"
#include "gossamer/topology/graph.hpp"

#include <map>
#include <memory>

namespace gossamer::actors {

using topology::rank;

/// The scatter of computing times: the distribution of a random factor whose mean is 1. Immutable.
class compute_jitter {
public:
  virtual ~compute_jitter() = default;
  /// @returns a factor of at least 0
  virtual double factor(random_sequence& draws) const = 0;
};

struct compute_jitter_entry {
  description about;
  std::unique_ptr<compute_jitter> (*make)(const arguments&);
};

/// All distributions: none, uniform, lognormal, exponential, pareto.
const registry<compute_jitter_entry>& compute_jitters();
std::unique_ptr<compute_jitter> make_compute_jitter(std::string_view text);

/// Settings of the times that workers need for their gradients.
struct compute_settings {
  double seconds_per_sample = 1e-4;
  std::size_t batch = 1;
  std::map<rank, double> measured = {}; ///< seconds per sample of single workers, in place of the above
  std::map<rank, double> slow = {};     ///< worker -> factor by which it computes more slowly
  std::string jitter = "none";          ///< a spec of `compute_jitters()`
};

/// The time of a gradient in virtual time: seconds per sample * batch * slow factor * jitter.
///
/// The jitter is drawn from Philox by (run seed, worker, step), independently of all other events.
/// Immutable. Threads: safe.
class compute_cost {
public:
  /// @error errc::usage if a number is out of range or there is no such jitter
  compute_cost(compute_settings settings, std::uint64_t seed);

  /// @param slow_down a factor of this one gradient, e.g. of an injected fault; at least 0
  virtual_time of(rank worker, std::uint64_t step, double slow_down = 1) const;

private:
  compute_settings settings_;
  std::uint64_t seed_;
  std::unique_ptr<compute_jitter> jitter_;
};

} // namespace gossamer::actors
