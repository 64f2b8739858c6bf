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

/// Checks that all entries are complete, and that nothing in them contradicts itself: see `gossamer::check_entry` and
/// `compress::check_table`.
/// @error errc::usage; names the entry, and what is wrong
void check_entries(const tables& all);

/// Returns what a worker or a master runs. @error errc::usage if the entry's function returns null
std::unique_ptr<algorithm> make_for_worker(const algorithm_entry& entry, const algorithm_setup& setup);
std::unique_ptr<algorithm> make_for_master(const algorithm_entry& entry, const algorithm_setup& setup);

} // namespace gossamer::actors
