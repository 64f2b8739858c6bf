#pragma once

#include "gossamer/actors/worker/algorithm.hpp"
#include "gossamer/compute/dataset.hpp"
#include "gossamer/compute/model.hpp"

namespace gossamer::actors {

/// What the settings of a run may name: the built-in entries, or these and a program's own.
///
/// Tables do not own their entries, which must outlive all runs that are prepared with them.
struct tables {
  registry<algorithm_entry> algorithms = actors::algorithms();
  registry<compute::model_entry> models = compute::models();
  registry<compute::data_entry> data = compute::data_sources();
};

} // namespace gossamer::actors
