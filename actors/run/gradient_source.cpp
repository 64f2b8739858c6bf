#include "gossamer/actors/run/gradient_source.hpp"

#include <numeric>
#include <utility>

namespace gossamer::actors {

void gradient_source::start(const gradient_job& job) {
  job_ = job;
  switch (job.what) {
  case gradient_job::kind::minibatch:
    sample_for(job);
    at_x_ = start_at(job.x, sampler_->batch_of(job.step), sampler_);
    break;
  case gradient_job::kind::difference: {
    const auto batch = draw_from_all(job.step);
    at_x_ = start_at(job.x, batch);
    at_anchor_ = start_at(job.anchor, batch);
    break;
  }
  case gradient_job::kind::full_part: {
    const auto samples = part_of_all(job.part, job.parts);
    part_size_ = samples.size();
    if (!samples.empty())
      at_x_ = start_at(job.x, samples);
    break;
  }
  }
}

gradient_result gradient_source::finish() {
  const auto job = std::exchange(job_, {});
  gradient_result result{.step = job.step, .gradient = {}, .update = job.what != gradient_job::kind::full_part};
  if (const auto at_x = std::exchange(at_x_, {})) {
    auto [gradient, loss] = at_x();
    result.gradient = std::move(gradient);
    result.loss = loss;
  }
  if (const auto at_anchor = std::exchange(at_anchor_, {})) {
    const auto anchor = at_anchor().gradient;
    if (result.gradient.empty() || anchor.empty())
      result.gradient = {};
    else
      result.gradient -= anchor;
  }
  if (result.gradient.empty()) {
    result.gradient = zeros_like(job.x);
    result.update = false;
  }
  if (job.what == gradient_job::kind::full_part)
    result.gradient *= static_cast<float>(part_size_);
  return result;
}

std::size_t gradient_source::samples_of(const gradient_job& job) const {
  switch (job.what) {
  case gradient_job::kind::minibatch:
    break;
  case gradient_job::kind::difference:
    return 2 * experiment_->settings.batch;
  case gradient_job::kind::full_part:
    return part_of_all(job.part, job.parts).size();
  }
  return experiment_->settings.batch;
}

compute::sampler gradient_source::sampler_of(const shards_of_view& shards) const {
  return {shards ? shards->of(worker_) : (*experiment_->shards)[worker_], experiment_->settings.batch, order_,
          experiment_->data.train.shuffled_block};
}

void gradient_source::sample_for(const gradient_job& job) {
  if (sampler_ && job.shards == sampled_)
    return;
  sampler_ = std::make_shared<compute::sampler>(sampler_of(job.shards));
  sampled_ = job.shards;
}

/// Draws with replacement: each draw is independent of all others, as the analysis of SVRG requires.
std::vector<std::uint32_t> gradient_source::draw_from_all(std::uint64_t step) const {
  random_sequence random{drawn_, step};
  std::vector<std::uint32_t> samples(experiment_->settings.batch);
  for (auto& sample : samples)
    sample = random.below(static_cast<std::uint32_t>(experiment_->data.train.samples));
  return samples;
}

std::vector<std::uint32_t> gradient_source::part_of_all(std::uint32_t part, std::uint32_t parts) const {
  const auto edge = [&](std::uint64_t k) { return k * experiment_->data.train.samples / parts; };
  std::vector<std::uint32_t> samples(edge(part + std::uint64_t{1}) - edge(part));
  std::iota(samples.begin(), samples.end(), static_cast<std::uint32_t>(edge(part)));
  return samples;
}

} // namespace gossamer::actors
