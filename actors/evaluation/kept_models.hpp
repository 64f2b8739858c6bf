#pragma once

#include "gossamer/actors/frames/transport.hpp"
#include "gossamer/actors/worker/worker_host.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace gossamer::actors {

/// A model, and whose it is.
struct owned_model {
  rank who = 0;
  vec model;
};

/// A mean that is to be formed, as one node is told of it.
struct mean_job {
  std::uint64_t number = 0; ///< of the request; ascending
  std::uint64_t evaluation = 0;
  std::uint32_t root = 0;          ///< the node that gets it
  std::vector<rank> everybody;     ///< whose models it is the mean of; ascending
  std::vector<owned_model> models; ///< those of them that are here; none where the evaluation is asked for again
};

/// The models of evaluations, where they were put aside, until a mean is formed of them. A value.
class kept_models {
public:
  void keep(snapshot s) {
    if (s.evaluation >= first_)
      of_[s.evaluation].push_back(std::move(s));
  }

  /// The mean of the models of these lives, of which those here are handed out. Others of that evaluation, and those of
  /// older ones, are forgotten.
  /// @param root see mean_job @param everybody ascending
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
      if (job.models.empty() || job.models.back().who != s.source) // who repeats a step gives another
        job.models.push_back({s.source, std::move(s.model)});
    return job;
  }

private:
  std::uint64_t first_ = 0;
  std::map<std::uint64_t, std::vector<snapshot>> of_;
};

} // namespace gossamer::actors
