#pragma once

#include "gossamer/base/registry.hpp"

#include <memory>

namespace gossamer::compute {

/// A factor of the learning rate, as a function of the progress in epochs. Immutable.
class schedule {
public:
  virtual ~schedule() = default;
  /// @param epoch   epochs done so far, fractional
  /// @param epochs  epochs that the run is planned to take
  /// @returns at least 0 and at most 1
  virtual double factor(double epoch, double epochs) const = 0;
};

struct schedule_entry {
  description about;
  std::unique_ptr<schedule> (*make)(const arguments&);
  bool needs_planned_epochs = false; ///< true if it ends with the run, so that it must know how long that is
};

/// All schedules: constant, steps, cosine (with warm-up), inverse-sqrt.
const registry<schedule_entry>& schedules();
std::unique_ptr<schedule> make_schedule(std::string_view text);

} // namespace gossamer::compute
