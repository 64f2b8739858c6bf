#pragma once

#include "gossamer/actors/run/experiment.hpp"
#include "gossamer/actors/worker/view.hpp"
#include "gossamer/compute/redeal.hpp"
#include "gossamer/compute/sampler.hpp"

namespace gossamer::actors {

/// Computes the gradients of one worker, for a compute actor. No step changes its state for the next, so a restarted
/// compute actor goes on with the same minibatches: a minibatch is a function of the job's shards and step, and of
/// seed, rank and incarnation. With other shards the step keeps the place in their order that it would have had if they
/// had been the worker's from the beginning (`compute::sampler`). Threads: one thread at a time.
///
/// A job is started and then finished; a model on a GPU works on it in between.
class gradient_source {
public:
  /// @param random_life as in worker_place
  gradient_source(std::shared_ptr<const experiment> e, rank worker, std::uint32_t random_life)
      : gradient_source(e, worker, random_life, e->model_for(worker)) {}
  /// @param model may be shared by sources of the same thread: it keeps nothing between calls but memory
  gradient_source(std::shared_ptr<const experiment> e, rank worker, std::uint32_t random_life,
                  std::shared_ptr<compute::model> model)
      : experiment_(std::move(e)), model_(std::move(model)), worker_(worker),
        drawn_(stream(worker, random_life, purpose::draw)), order_(stream(worker, random_life, purpose::data)),
        augmenting_(stream(worker, random_life, purpose::augment)) {}

  void start(const gradient_job& job);
  bool computes_elsewhere() const { return model_->computes_elsewhere(); }
  /// Like `compute::model::when_done`.
  bool when_done(std::function<void()> f) { return model_->when_done(std::move(f)); }
  /// Waits for the job that was started last, and returns its result.
  gradient_result finish();
  gradient_result compute(const gradient_job& job) {
    start(job);
    return finish();
  }
  /// Number of single samples in a job.
  std::size_t samples_of(const gradient_job& job) const;

private:
  using pending = std::function<compute::gradient_and_loss()>;
  using shards_of_view = std::shared_ptr<const compute::redealt_shards>;

  pending start_at(const vec& x, std::span<const std::uint32_t> samples,
                   std::shared_ptr<const compute::sampler> order = nullptr) {
    return model_->start_gradient(
        x, {experiment_->data.train, samples, &augmenting_, job_.step, worker_, std::move(order), standing()});
  }
  compute::run_standing standing() const {
    const auto members = job_.present ? std::span{job_.present->members} : std::span<const rank>{};
    return {members, job_.epoch, experiment_->planned_epochs};
  }
  random_stream stream(rank worker, std::uint32_t random_life, purpose use) const {
    return stream_of_life({experiment_->settings.seed, worker, use}, random_life);
  }
  compute::sampler sampler_of(const shards_of_view& shards) const;
  void sample_for(const gradient_job& job);
  std::vector<std::uint32_t> draw_from_all(std::uint64_t step) const;
  std::vector<std::uint32_t> part_of_all(std::uint32_t part, std::uint32_t parts) const;

  std::shared_ptr<const experiment> experiment_;
  std::shared_ptr<compute::model> model_;
  rank worker_;
  random_stream drawn_; ///< of samples from all shards
  random_stream order_; ///< of visits to the worker's own samples
  random_stream augmenting_;
  /// Made with the first minibatch: a joining worker has no part in the partition.
  std::shared_ptr<compute::sampler> sampler_;
  shards_of_view sampled_; ///< the sampler's; null: the partition

  gradient_job job_; ///< under way
  std::size_t part_size_ = 0;
  pending at_x_, at_anchor_;
};

} // namespace gossamer::actors
