#pragma once

#include "gossamer/actors/worker/algorithm.hpp"
#include "gossamer/actors/worker/view.hpp"
#include "gossamer/actors/worker/witness.hpp"
#include "gossamer/compress/coder.hpp"
#include "gossamer/compute/model.hpp"
#include "gossamer/compute/schedule.hpp"
#include "gossamer/topology/islands.hpp"

#include <cstddef>
#include <limits>
#include <memory>
#include <vector>

namespace gossamer::actors {

/// A worker's identity, and the size of the run.
struct worker_place {
  rank id = 0;
  std::uint32_t incarnation = 0;
  std::uint32_t random_life = 0;                        ///< key of its random numbers, as `experiment::random_life`
  std::size_t workers = 1;                              ///< at the start of the run
  std::size_t ranks = 1;                                ///< ranks for workers; they come first
  std::size_t masters = 0;                              ///< ranks for masters; they follow
  topology::islands islands;                            ///< of ranks for workers
  std::shared_ptr<const view> everybody;                ///< view 1; null for a worker that joins later
  std::shared_ptr<const std::vector<std::byte>> saved;  ///< state of an earlier incarnation, to go on from; mostly null
  bool inherits = false;                                ///< `saved` is the state of another worker
  std::uint64_t gradients = 0;                          ///< computed before the checkpoint that the run goes on from
  traffic sent;                                         ///< sent before that checkpoint
  std::shared_ptr<const std::vector<std::byte>> learnt; ///< state of a cut-off earlier incarnation; mostly null
};

/// Length, data and rate of a worker's training.
struct worker_training {
  bool synchronous = true;
  interrupted_round on_loss = interrupted_round::repeat; ///< of a synchronous run
  exchange_pattern exchange = exchange_pattern::neighbours;
  std::uint64_t seed = 0;
  std::uint64_t step_limit = std::numeric_limits<std::uint64_t>::max(); ///< of this worker
  std::uint64_t evaluation_steps = 0; ///< a synchronous worker sends a snapshot every so many steps; 0: never
  std::size_t samples = 1;            ///< of the training set
  std::size_t batch = 1;              ///< samples of a minibatch
  /// Excess of the updates of all workers, at the checkpoint from which the run goes on, over the count that follows
  /// from t: t times the workers of a synchronous run (see also view), or at least t otherwise.
  std::int64_t updates_ahead = 0;
  double updates_per_epoch = 1; ///< gradients of all workers together that touch every sample once
  double epochs_ahead = 0;      ///< as in experiment
  double planned_epochs = 1;
  double lr = 0.1;
  std::shared_ptr<const compute::schedule> schedule;
  std::shared_ptr<const compute::model> model; ///< for its proximal step
};

/// The means to pack and unpack vectors.
struct worker_packing {
  std::shared_ptr<const compress::codec> codec;
  bool exact = true; ///< the codec restores the vector exactly
  /// Encodes and decodes for all codecs; never null.
  std::shared_ptr<const compress::coder> coder = std::make_shared<const compress::coder>();
  buffer_pool pool; ///< for received vectors
};

/// All data about a worker that is fixed before it starts.
struct worker_settings {
  worker_place place;
  worker_training training;
  worker_packing packing;
  actors::witness* witness = nullptr; ///< outlives the worker; may be null
};

} // namespace gossamer::actors
