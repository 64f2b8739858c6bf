#pragma once

#include "gossamer/actors/worker/algorithm.hpp"
#include "gossamer/compress/codec.hpp"
#include "gossamer/compute/dataset.hpp"
#include "gossamer/compute/model.hpp"
#include "gossamer/compute/optimiser.hpp"
#include "gossamer/topology/graph.hpp"

namespace gossamer::actors {

/// What the settings of a run may name: the built-in entries, or these and a program's own.
///
/// `joined` (base/registry.hpp) makes the entries of a table of both. Tables do not own their entries, which must
/// outlive all runs that are prepared with them.
struct tables {
  registry<algorithm_entry> algorithms = actors::algorithms();
  registry<compress::codec_entry> codecs = compress::codecs(); ///< of the run, and those that algorithms make
  registry<topology::topology_entry> topologies = topology::topologies();
  registry<compute::model_entry> models = compute::models();
  registry<compute::data_entry> data = compute::data_sources();
  registry<compute::optimiser_entry> optimisers = compute::optimisers();
};

} // namespace gossamer::actors
