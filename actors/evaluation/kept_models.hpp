#pragma once

#include "gossamer/actors/frames/transport.hpp"
#include "gossamer/actors/worker/worker_host.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace gossamer::actors {

/// A model, and its worker or master.
struct owned_model {
  rank who = 0;
  vec model;
};

/// The order to form a mean, as one node gets it.
struct mean_job {
  std::uint64_t number = 0; ///< number of the request; ascending
  std::uint64_t evaluation = 0;
  std::uint32_t root = 0;          ///< the node that gets it
  std::vector<rank> everybody;     ///< ranks whose models form the mean; ascending
  std::vector<owned_model> models; ///< models that are here; none where the evaluation is asked for again
};

/// The models of evaluations, where they were put aside, until a mean is formed of them. A value.
class kept_models {
public:
  void keep(snapshot s) {
    if (s.evaluation >= first_)
      of_[s.evaluation].push_back(std::move(s));
  }

  /// Returns the order for the mean of the models of these lives, with the models that are here. Forgets other models
  /// of that evaluation, and those of older ones.
  /// @param root as in mean_job @param everybody ascending
  mean_job take(std::uint64_t number, std::uint64_t evaluation, std::uint32_t root,
                const std::vector<life>& everybody) {
    auto found = std::exchange(of_[evaluation], {});
    of_.erase(of_.begin(), of_.upper_bound(evaluation));
    first_ = evaluation + 1;
    std::erase_if(found, [&](const snapshot& s) {
      return !std::ranges::binary_search(everybody, life{s.source, s.incarnation});
    });
    std::ranges::stable_sort(found, {}, &snapshot::source);
    mean_job job{.number = number, .evaluation = evaluation, .root = root, .everybody = {}, .models = {}};
    for (const auto& one : everybody)
      job.everybody.push_back(one.who);
    for (auto& s : found)
      if (job.models.empty() || job.models.back().who != s.source) // a worker that repeats a step gives another
        job.models.push_back({s.source, std::move(s.model)});
    return job;
  }

private:
  std::uint64_t first_ = 0;
  std::map<std::uint64_t, std::vector<snapshot>> of_;
};

} // namespace gossamer::actors
