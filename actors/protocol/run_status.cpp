#include "gossamer/actors/protocol/run_status.hpp"

#include <cmath>

namespace gossamer::actors {

progress_record progress_of(const run_status& s) {
  progress_record p;
  p.epoch = s.epoch;
  p.planned_epochs = s.planned_epochs;
  p.loss = s.loss;
  if (!std::isnan(s.accuracy))
    p.accuracy = s.accuracy;
  p.time_s = s.time_s;
  p.steps_per_second = s.steps_per_second;
  p.bits_per_second = s.bits_per_second;
  if (!std::isnan(s.averagings_per_step))
    p.averagings_per_step = s.averagings_per_step;
  p.remaining_s = s.remaining_s;
  p.nodes = s.nodes;
  p.nodes_lost = s.nodes - s.there;
  return p;
}

} // namespace gossamer::actors
