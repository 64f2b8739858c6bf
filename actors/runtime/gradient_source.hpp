#pragma once

#include "gossamer/actors/runtime/experiment.hpp"
#include "gossamer/compute/sampler.hpp"

namespace gossamer::actors {

/// What a compute actor does: the gradient of one worker's minibatch. Holds nothing that a step changes for the next,
/// so that a restarted compute actor goes on with the same minibatches. Threads: one thread at a time.
class gradient_source {
public:
  gradient_source(std::shared_ptr<const experiment> e, rank worker) : gradient_source(e, worker, e->model->clone()) {}
  /// @param model may be shared by sources of the same thread: it keeps nothing between calls but memory
  gradient_source(std::shared_ptr<const experiment> e, rank worker, std::shared_ptr<compute::model> model)
      : experiment_(std::move(e)), model_(std::move(model)),
        sampler_(experiment_->shards[worker], experiment_->settings.batch, experiment_->settings.seed, worker),
        pool_(experiment_->pool) {}

  /// The gradient at x of the minibatch that belongs to this step.
  gradient_result compute(std::uint64_t step, const vec& x) {
    vec gradient{pool_.allocate(x.storage().size())};
    const auto loss =
        model_->loss_and_gradient(x.view(), {experiment_->data.train, sampler_.batch_of(step)}, gradient.overwrite());
    return {step, std::move(gradient), loss};
  }

private:
  std::shared_ptr<const experiment> experiment_;
  std::shared_ptr<compute::model> model_;
  compute::sampler sampler_;
  buffer_pool pool_;
};

} // namespace gossamer::actors
