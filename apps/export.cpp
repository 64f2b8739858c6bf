// gossamer export: the model of a run, for other programs.
#include "gossamer/apps/detail/commands.hpp"
#include "gossamer/apps/detail/remains.hpp"
#include "gossamer/apps/detail/setup.hpp"
#include "gossamer/base/error.hpp"
#include "gossamer/compute/model_file.hpp"

#include <fmt/format.h>

namespace gossamer::apps {

namespace {

vec model_of(const actors::experiment& e, const actors::saved_worker& saved) {
  const auto algorithm = e.make_algorithm(saved.who);
  archive_reader fields{saved.state, e.pool};
  algorithm->fields(fields); // the optimiser's fields follow
  return algorithm->model();
}

} // namespace

std::vector<float> evaluated_model(const actors::experiment& e, const actors::resumption& from) {
  std::vector<float> parts;
  std::vector<double> sum(e.initial.size());
  double models = 0;
  for (const auto& [who, saved] : from.parts) {
    if (!e.is_evaluated(who))
      continue;
    const auto model = model_of(e, saved);
    if (e.masters > 0) {
      parts.insert(parts.end(), model.view().begin(), model.view().end());
      continue;
    }
    ++models;
    for (std::size_t k = 0; k < sum.size(); ++k)
      sum[k] += static_cast<double>(model.view()[k]);
  }
  if (e.masters == 0)
    for (const auto s : sum)
      parts.push_back(static_cast<float>(s / models));
  return parts;
}

void export_model(const program& p, const export_options& options) {
  auto o = options_of(options.run);
  o.run.device = "cpu";
  o.resume = options.run;
  const auto e = actors::prepare(o.run, p.known());
  const auto from = resumption_of(p, o, *e);
  const auto model = evaluated_model(*e, *from);
  if (model.size() != e->initial.size())
    throw error(errc::bad_data, fmt::format("the checkpoint in {} has a model of {} parameters, and {} has {}",
                                            options.run, model.size(), e->settings.model, e->initial.size()));
  compute::write_model(options.out, *e->host.model, model);
  fmt::print("{} holds the model at checkpoint {}, after {:.4g} epochs: {} parameters of {}\n", options.out,
             from->all.checkpoint, e->after(from->all)->epoch_of(from->all.updates()), model.size(), e->settings.model);
}

} // namespace gossamer::apps
