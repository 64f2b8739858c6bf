#pragma once

#include "gossamer/actors/frames/traffic_table.hpp"
#include "gossamer/actors/run/run_settings.hpp"
#include "gossamer/actors/worker/worker.hpp"
#include "gossamer/base/cuda/device.hpp"
#include "gossamer/compute/partition.hpp"
#include "gossamer/topology/islands.hpp"
#include "gossamer/topology/mixing.hpp"

#include <optional>
#include <set>
#include <string>

namespace gossamer::actors {

struct manifest;

/// The parts of a run that workers on one device share.
struct device_parts {
  cuda::device where;
  std::shared_ptr<const compute::model> model;         ///< the run's, as this device computes it
  std::shared_ptr<const compute::optimiser> optimiser; ///< the run's, as this device computes it
  /// Makes a coder for one worker; the coder holds the worker's vectors on the device of its gradients.
  std::function<std::shared_ptr<const compress::coder>()> make_coder = std::make_shared<const compress::coder>;
};

/// Work done before the checkpoint from which a run goes on; 0 for a new run.
struct earlier_work {
  std::uint64_t checkpoint = 0; ///< number of that checkpoint
  std::uint64_t updates = 0;    ///< gradients of all workers together
  std::uint64_t samples = 0;    ///< in the minibatches of these updates
  double steps = 0;             ///< of each worker; on average if asynchronous
};

/// A run that has been checked and loaded: the immutable data that all workers share.
struct experiment {
  /// The tables with which it was prepared. (The defaults of `tables` are above this library, and so are not used
  /// here.)
  tables known{.algorithms = {"algorithm", {}}, .models = {"model", {}}, .data = {"data", {}}};
  run_settings settings; ///< with all defaults filled in
  const algorithm_entry* algorithm = nullptr;
  std::optional<arguments> algorithm_arguments;
  std::size_t masters = 0;

  topology::islands islands;                             ///< of ranks for workers
  std::shared_ptr<const topology::mixing_matrix> mixing; ///< of all ranks for workers
  std::shared_ptr<const view> everybody;                 ///< the view as long as no worker is lost, leaves or joins

  compute::data_split data;
  std::shared_ptr<const compute::shards> shards; ///< while no worker is lost; see view::shards
  device_parts host;                             ///< for masters, and for evaluations when a GPU is lost
  std::vector<device_parts> devices;             ///< dealt to the workers in turn
  std::shared_ptr<const compute::schedule> schedule;
  std::shared_ptr<const compress::codec> codec;
  buffer_pool pool;
  vec initial;

  /// Plan of the whole run, earlier work included; larger than any run can reach if only time ends the run. An epoch is
  /// a number of gradients, by any workers; a step is one gradient of each worker present when the run begins or goes
  /// on.
  std::uint64_t steps_per_worker = 0;
  std::uint64_t evaluation_steps = 1; ///< steps of each worker between evaluations
  double planned_epochs = 0;          ///< infinite if only time ends the run
  std::uint64_t planned_updates = 0;  ///< of all workers together; as `steps_per_worker`
  earlier_work done;

  /// Gradients of all workers together that touch every training sample once.
  double updates_per_epoch() const {
    return static_cast<double>(data.train.samples) / static_cast<double>(settings.batch);
  }
  /// Bytes under way from one worker to another before its steps wait: the setting, or by default more than algorithms
  /// that wait for their neighbours ever have under way.
  std::uint64_t most_under_way() const;
  /// Number of workers and masters; their ranks in this order.
  std::size_t participants() const noexcept { return settings.worker_ranks() + masters; }
  bool is_master(rank i) const noexcept { return i >= settings.worker_ranks(); }
  /// True if evaluations use this rank's model: a master's part, if there are masters, else a worker's model.
  bool is_evaluated(rank i) const noexcept { return is_master(i) == (masters > 0); }
  /// True if workers average their models in pairs, and count how often (`worker::averaged`).
  bool averages_pairs() const { return exchange() == exchange_pattern::bipartite; }
  /// The algorithm's pattern with these arguments.
  exchange_pattern exchange() const {
    return algorithm->exchange ? algorithm->exchange(*algorithm_arguments) : algorithm->traits.exchange;
  }
  /// Returns the last step that a neighbour of a worker in step t may be in, as the algorithm promises
  /// (algorithm_promises); empty if it promises nothing.
  std::function<std::uint64_t(std::uint64_t t)> last_step_beside() const;
  /// The island of each rank that `--islands` names; empty without them.
  island_map named_islands() const;
  /// Ranks without a worker when the run begins.
  std::set<rank> vacancies() const;
  /// "worker 3", "master 0"
  std::string name_of(rank i) const;
  const device_parts& device_of(rank i) const { return is_master(i) ? host : devices[i % devices.size()]; }
  /// A model for the gradients of a worker, on its device.
  std::unique_ptr<compute::model> model_for(rank worker) const { return device_of(worker).model->clone(); }
  /// The algorithm that this rank runs. @param coder the worker's
  std::unique_ptr<actors::algorithm> make_algorithm(rank i = 0, const compress::coder& coder = {}) const;
  /// This run, continued from a checkpoint, perhaps with another number of workers.
  std::shared_ptr<const experiment> after(const manifest& m) const;
  bool has_nothing_left() const noexcept { return planned_updates <= done.updates; }
  /// Steps of each worker when this run was saved; on average if asynchronous.
  double steps_of(const manifest& m) const;
  /// Samples in the minibatches of all updates when this run was saved.
  std::uint64_t samples_of(const manifest& m) const;
  /// Epochs of the earlier work beyond those that its updates would make with the present batch; 0 if it had this one.
  double epochs_ahead() const {
    const auto excess = static_cast<std::int64_t>(done.samples - done.updates * settings.batch);
    return static_cast<double>(excess) / static_cast<double>(data.train.samples);
  }
  double epoch_of(std::uint64_t updates) const {
    return static_cast<double>(updates) / updates_per_epoch() + epochs_ahead();
  }
  /// @param incarnation of the worker; if not 0, the worker joins
  worker_settings for_worker(rank i, std::uint32_t incarnation = 0) const;
  /// The incarnation to which the random numbers of this worker belong. An asynchronous worker that comes back goes on
  /// from another worker's step, and would repeat its own earlier draws. A synchronous worker comes back to steps that
  /// it has not done, and a master goes on where it was: both keep the numbers of incarnation 0.
  std::uint32_t random_life(rank i, std::uint32_t incarnation) const {
    return !is_master(i) && !algorithm->traits.synchronous ? incarnation : 0;
  }
};

/// Makes the checks of `prepare` that need no data. Builds the graph of the workers.
/// @error as `prepare`
void check_without_data(run_settings settings, const tables& known = {});

/// Checks all settings against each other and loads the data.
/// @param known what the settings may name; a program with entries of its own passes its own tables
/// @error errc::usage, errc::io, errc::bad_data from the parts; a setting that the algorithm cannot work with (graph
///        not bipartite or not connected, lossy codec, too few samples) is errc::usage
std::shared_ptr<const experiment> prepare(run_settings settings, const tables& known = {});

} // namespace gossamer::actors
