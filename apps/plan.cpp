#include "gossamer/apps/detail/plan.hpp"

#include "gossamer/actors/faults/chaos.hpp"

#include <algorithm>

namespace gossamer::apps {

namespace {

constexpr double waiting = 1.5; // what messages add to the time of the gradients, as a guess

/// One seed of two; Philox is a bijection, so no two pairs are confused before the words are cut off.
std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
  const auto low = [](std::uint64_t x) { return static_cast<std::uint32_t>(x); };
  const auto words = philox4x32_10({low(a), low(a >> 32), low(b), low(b >> 32)}, {0x676F7373u, 0x6368616Fu});
  return words[0] | std::uint64_t{words[1]} << 32;
}

} // namespace

double estimated_seconds(const actors::experiment& e, double sample_time_s) {
  const auto& s = e.settings;
  const bool endless = !s.epochs && !s.steps;
  const double planned =
      static_cast<double>(e.steps_per_worker) * static_cast<double>(s.batch) * sample_time_s * waiting;
  return std::clamp(endless ? *s.seconds : std::min(planned, s.seconds.value_or(planned)), 1e-3, 1e9);
}

actors::fault_plan plan_of(const run_options& o, const actors::experiment& e) {
  actors::fault_plan plan;
  if (!o.faults.empty())
    plan = actors::read_plan(o.faults);
  else if (o.chaos)
    plan = actors::draw_plan(mixed(*o.chaos, e.settings.seed),
                             {.workers = e.settings.workers,
                              .workers_per_node = o.world.workers_per_node,
                              .horizon_s = o.horizon_s ? *o.horizon_s : estimated_seconds(e, o.world.sample_time_s)});
  actors::check(plan, e.settings.workers, o.world.workers_per_node);
  return plan;
}

} // namespace gossamer::apps
