#pragma once

#include "gossamer/actors/run/experiment.hpp"
#include "gossamer/compress/cuda/detail/coder_on.hpp"
#include "gossamer/compute/cuda/detail/device_network.hpp"
#include "gossamer/compute/cuda/detail/updates_on.hpp"

#include "support/host_engine.hpp"

namespace gossamer::test {

/// Returns the parts of a run's workers on a GPU whose kernels run thread by thread on the processor.
inline actors::device_parts on_host_engine(const actors::experiment& e, const host_engine& engine) {
  using twin = compute::cuda::device_network<host_engine>;
  static const compute::cuda::updates_on<host_queue> updates;
  static twin::data_sets sets; // shared by all runs, whose datasets come to lie at the same addresses
  std::shared_ptr<compute::optimiser> optimiser = e.host.optimiser->clone();
  optimiser->update_with(updates);
  return {
      .where = cuda::device{0},
      .model =
          std::make_shared<twin>(dynamic_cast<const compute::detail::neural_network&>(*e.host.model), engine, sets),
      .optimiser = std::move(optimiser),
      .make_coder = [engine] { return std::make_shared<const compress::cuda::coder_on<host_queue>>(engine.beside()); }};
}

} // namespace gossamer::test
