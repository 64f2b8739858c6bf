#include "gossamer/actors/runtime/evaluator.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace gossamer::actors {

namespace {

constexpr std::size_t most_training_samples = 10'000;

/// Up to `most` samples spread evenly over the set.
std::vector<std::uint32_t> spread(std::size_t samples, std::size_t most) {
  std::vector<std::uint32_t> indices(std::min(samples, most));
  for (std::size_t k = 0; k < indices.size(); ++k)
    indices[k] = static_cast<std::uint32_t>(k * samples / indices.size());
  return indices;
}

/// One behind the other.
vec joined(std::span<const vec> parts, buffer_pool pool) {
  if (parts.size() == 1)
    return parts[0];
  std::size_t size = 0;
  for (const auto& part : parts)
    size += part.size();
  vec whole{pool, size};
  auto to = whole.overwrite().begin();
  for (const auto& part : parts)
    to = std::ranges::copy(part.view(), to).out;
  return whole;
}

} // namespace

std::pair<vec, double> consensus(std::span<const vec> models) {
  const auto share = 1.0f / static_cast<float>(models.size());
  vec mean = share * models[0];
  for (const auto& model : models.subspan(1))
    mean += share * model;
  double sum = 0;
  for (const auto& model : models)
    sum += squared_distance(model.view(), mean.view());
  return {std::move(mean), std::sqrt(sum / static_cast<double>(models.size()))};
}

std::optional<evaluate_models> evaluation_of(const experiment& run, ledger& seen, std::vector<snapshot> snapshots,
                                             double time_s) {
  evaluate_models job{.record = {}, .models = {}, .parts = run.masters > 0};
  for (auto& one : snapshots) {
    seen.record(one.source, one.incarnation, one.gradients, one.sent);
    if ((one.source >= run.settings.workers) == job.parts)
      job.models.push_back(std::move(one.model));
  }
  if (job.models.empty() || (job.parts && job.models.size() != run.masters))
    return std::nullopt;
  const auto sent = seen.sent();
  job.record.step = seen.steps();
  job.record.epoch = run.epoch_of(job.record.step);
  job.record.time_s = time_s;
  job.record.payload_bits = sent.payload_bits;
  job.record.wire_bits = sent.wire_bits;
  return job;
}

caf::behavior evaluator_actor(caf::event_based_actor* self, std::shared_ptr<const experiment> e,
                              caf::actor supervisor) {
  report_exceptions_to(self, supervisor, "the evaluation");
  const auto evaluate = [e, train = spread(e->data.train.samples, most_training_samples),
                         test = spread(e->data.test.samples, e->data.test.samples)](compute::model& model, const vec& x,
                                                                                    evaluation_record& record) {
    record.train_loss = model.evaluate(x.view(), {e->data.train, train}).loss;
    const auto on_test = model.evaluate(x.view(), {e->data.test, test});
    record.test_loss = on_test.loss;
    record.test_accuracy = on_test.accuracy;
  };
  return {[=, model = std::shared_ptr<compute::model>{e->model_for(0)}](evaluate_models& job) mutable {
    const auto [mean, distance] = job.parts ? std::pair{joined(job.models, e->pool), 0.0} : consensus(job.models);
    job.models.clear();
    auto record = job.record;
    record.consensus_distance = distance;
    try {
      evaluate(*model, mean, record);
    } catch (const error& problem) {
      if (problem.code() != errc::device)
        throw;
      model = e->host.model->clone(); // on the processor, which goes on when a GPU is lost
      evaluate(*model, mean, record);
    }
    self->send(caf::actor_cast<caf::actor>(self->current_sender()), record);
  }};
}

} // namespace gossamer::actors
