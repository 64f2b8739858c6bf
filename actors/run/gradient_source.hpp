#pragma once

#include "gossamer/actors/run/experiment.hpp"
#include "gossamer/compute/redeal.hpp"
#include "gossamer/compute/sampler.hpp"

namespace gossamer::actors {

/// What a compute actor does: the gradients of one worker. Holds nothing that a step changes for the next,
/// so that a restarted compute actor goes on with the same minibatches: a minibatch is a function of the job's shards
/// and step, and of seed, rank and life. With other shards the step's place in their order is what it would be had
/// they been the worker's from the beginning (`compute::sampler`). Threads: one thread at a time.
///
/// A job is started and then finished; a model on a GPU works on it in between.
class gradient_source {
public:
  /// @param random_life see worker_place
  gradient_source(std::shared_ptr<const experiment> e, rank worker, std::uint32_t random_life)
      : gradient_source(e, worker, random_life, e->model_for(worker)) {}
  /// @param model may be shared by sources of the same thread: it keeps nothing between calls but memory
  gradient_source(std::shared_ptr<const experiment> e, rank worker, std::uint32_t random_life,
                  std::shared_ptr<compute::model> model)
      : experiment_(std::move(e)), model_(std::move(model)), worker_(worker),
        drawn_(stream(worker, random_life, purpose::draw)), order_(stream(worker, random_life, purpose::data)),
        augmenting_(stream(worker, random_life, purpose::augment)) {}

  void start(const gradient_job& job);
  /// As `compute::model::when_done`.
  bool when_done(std::function<void()> f) { return model_->when_done(std::move(f)); }
  /// The result of the job that was started last. Waits for it.
  gradient_result finish();
  gradient_result compute(const gradient_job& job) {
    start(job);
    return finish();
  }
  /// So many gradients of single samples.
  std::size_t samples_of(const gradient_job& job) const;

private:
  using pending = std::function<compute::gradient_and_loss()>;
  using shards_of_view = std::shared_ptr<const compute::redealt_shards>;

  pending start_at(const vec& x, std::span<const std::uint32_t> samples) {
    return model_->start_gradient(x, {experiment_->data.train, samples, &augmenting_, job_.step});
  }
  random_stream stream(rank worker, std::uint32_t random_life, purpose use) const {
    return stream_of_life({experiment_->settings.seed, worker, use}, random_life);
  }
  compute::sampler sampler_of(const shards_of_view& shards) const;
  std::span<const std::uint32_t> minibatch(const gradient_job& job);
  std::vector<std::uint32_t> draw_from_all(std::uint64_t step) const;
  std::vector<std::uint32_t> part_of_all(std::uint32_t part, std::uint32_t parts) const;

  std::shared_ptr<const experiment> experiment_;
  std::shared_ptr<compute::model> model_;
  rank worker_;
  random_stream drawn_; ///< samples that are drawn from all
  random_stream order_; ///< in which its own are visited
  random_stream augmenting_;
  std::optional<compute::sampler>
      sampler_;            ///< made with the first minibatch: one who has come has no part in the partition
  shards_of_view sampled_; ///< by the sampler; null: the partition

  gradient_job job_; ///< under way
  std::size_t part_size_ = 0;
  pending at_x_, at_anchor_;
};

} // namespace gossamer::actors
