#pragma once

#include "gossamer/actors/run/run_settings.hpp"
#include "gossamer/actors/worker/worker.hpp"
#include "gossamer/base/cuda/device.hpp"
#include "gossamer/compute/partition.hpp"
#include "gossamer/topology/mixing.hpp"

#include <optional>
#include <set>
#include <string>

namespace gossamer::actors {

struct manifest;

/// What workers on one device have of it.
struct device_parts {
  cuda::device where;
  std::shared_ptr<const compute::model> model;         ///< the run's, as this device computes it
  std::shared_ptr<const compute::optimiser> optimiser; ///< likewise
  /// For each worker one of its own, which holds the worker's vectors where their gradients are computed.
  std::function<std::shared_ptr<const compress::coder>()> make_coder = std::make_shared<const compress::coder>;
};

/// What had been done where a run goes on from a checkpoint; nothing where it begins.
struct earlier_work {
  std::uint64_t updates = 0; ///< gradients of all workers together
  double steps = 0;          ///< of each worker; on average, if asynchronous
};

/// A run that has been checked and loaded: everything that all workers share, immutable.
struct experiment {
  run_settings settings; ///< with every default written out
  const algorithm_entry* algorithm = nullptr;
  std::optional<arguments> algorithm_arguments;
  std::size_t masters = 0;

  std::shared_ptr<const topology::mixing_matrix> mixing; ///< of all ranks that workers may have
  std::shared_ptr<const view> everybody;                 ///< who talks to whom as long as nobody is lost, or has come

  compute::data_split data;
  std::shared_ptr<const compute::shards> shards; ///< while nobody is lost; see view::shards
  device_parts host;                             ///< of masters, and of evaluations when a GPU is lost
  std::vector<device_parts> devices;             ///< each worker in turn has the next
  std::shared_ptr<const compute::schedule> schedule;
  std::shared_ptr<const compress::codec> codec;
  buffer_pool pool;
  vec initial;

  /// Planned, with what had been done before; more than anybody can do where only time ends the run. An epoch is so
  /// many gradients, whoever computes them; a step is a gradient of each worker that the run begins with, or goes on
  /// with.
  std::uint64_t steps_per_worker = 0;
  std::uint64_t evaluation_steps = 1; ///< steps of each worker between evaluations
  double planned_epochs = 0;          ///< infinite where only time ends the run
  std::uint64_t planned_updates = 0;  ///< of all workers together, likewise
  earlier_work done;

  /// Gradients, of all workers together, that touch every training sample once.
  double updates_per_epoch() const {
    return static_cast<double>(data.train.samples) / static_cast<double>(settings.batch);
  }
  /// Bytes from one worker to another, before its steps wait: as the settings say, or else more than algorithms have
  /// under way that wait for their neighbours.
  std::uint64_t most_under_way() const;
  /// Workers and masters; their ranks in this order.
  std::size_t participants() const noexcept { return settings.worker_ranks() + masters; }
  bool is_master(rank i) const noexcept { return i >= settings.worker_ranks(); }
  /// Whether this one's model is one of those that are evaluated: the parts of the masters, where there are any.
  bool is_evaluated(rank i) const noexcept { return is_master(i) == (masters > 0); }
  /// The ranks that nobody has when the run begins.
  std::set<rank> vacancies() const;
  /// "worker 3", "master 0"
  std::string name_of(rank i) const;
  const device_parts& device_of(rank i) const { return is_master(i) ? host : devices[i % devices.size()]; }
  /// For the gradients of a worker, on its device.
  std::unique_ptr<compute::model> model_for(rank worker) const { return device_of(worker).model->clone(); }
  /// What the one of this rank runs. @param coder the worker's
  std::unique_ptr<actors::algorithm> make_algorithm(rank i = 0, const compress::coder& coder = {}) const;
  /// This run as it goes on from a checkpoint, maybe with another number of workers.
  std::shared_ptr<const experiment> after(const manifest& m) const;
  bool has_nothing_left() const noexcept { return planned_updates <= done.updates; }
  /// Of each worker, when this run was saved; on average, if asynchronous.
  double steps_of(const manifest& m) const;
  double epoch_of(std::uint64_t updates) const { return static_cast<double>(updates) / updates_per_epoch(); }
  /// @param incarnation how often the worker was started before; if it was, it joins
  worker_settings for_worker(rank i, std::uint32_t incarnation = 0) const;
  /// Which life the random numbers of this worker belong to. An asynchronous worker that comes back goes on from the
  /// step of another one and would draw what it has drawn before; a synchronous one does steps that it has not done,
  /// and a master goes on where it was.
  std::uint32_t random_life(rank i, std::uint32_t incarnation) const {
    return !is_master(i) && !algorithm->traits.synchronous ? incarnation : 0;
  }
};

/// Checks all settings against each other and loads the data.
/// @param known the algorithms that `settings.algorithm` may name; a program with its own passes its own table
/// @error errc::usage, errc::io, errc::bad_data as the parts throw them; a setting that the algorithm cannot work with
///        (graph not bipartite or not connected, lossy codec, too few samples) is errc::usage
std::shared_ptr<const experiment> prepare(run_settings settings, const registry<algorithm_entry>& known = algorithms());

} // namespace gossamer::actors
