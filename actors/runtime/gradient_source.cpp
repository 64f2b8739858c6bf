#include "gossamer/actors/runtime/gradient_source.hpp"

#include <numeric>

namespace gossamer::actors {

double gradient_source::gradient_at(const vec& x, std::span<const std::uint32_t> samples, vec& gradient) {
  gradient = vec{pool_.allocate(x.storage().size())};
  return model_->loss_and_gradient(x.view(), {experiment_->data.train, samples}, gradient.overwrite());
}

gradient_result gradient_source::compute(const gradient_job& job) {
  gradient_result result{.step = job.step, .gradient = {}};
  switch (job.what) {
  case gradient_job::kind::minibatch:
    result.loss = gradient_at(job.x, sampler_.batch_of(job.step), result.gradient);
    break;
  case gradient_job::kind::difference: {
    const auto batch = draw_from_all(job.step);
    vec at_anchor;
    gradient_at(job.anchor, batch, at_anchor);
    result.loss = gradient_at(job.x, batch, result.gradient);
    result.gradient -= at_anchor;
    break;
  }
  case gradient_job::kind::full_part:
    result.update = false;
    if (const auto samples = part_of_all(job.part, job.parts); !samples.empty()) {
      result.loss = gradient_at(job.x, samples, result.gradient);
      result.gradient *= static_cast<float>(samples.size());
    } else {
      auto pool = pool_;
      result.gradient = vec{pool, job.x.size()};
    }
    break;
  }
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

/// With replacement: each draw is independent of all others, as the analysis of SVRG has it.
std::vector<std::uint32_t> gradient_source::draw_from_all(std::uint64_t step) const {
  random_sequence random{{experiment_->settings.seed, worker_, purpose::draw}, step};
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
