#include "gossamer/topology/mixing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace gossamer::topology {
namespace {

constexpr double rounding = 1e-6; // of a row's sum in single precision

void require_fitting(const graph& g, const std::vector<float>& weights) {
  if (const auto wanted = g.offset(static_cast<rank>(g.size())); weights.size() != wanted)
    throw error(errc::usage, fmt::format("{} mixing weights do not fit the graph", weights.size()),
                fmt::format("give each node one weight a neighbour: {} in all", wanted));
}

float remainder(rank i, std::span<const float> row) {
  const auto negative = std::ranges::find_if(row, [](float w) { return !(w >= 0); });
  if (negative != row.end())
    throw error(errc::usage, fmt::format("node {} has the mixing weight {}", i, *negative), "weights are at least 0");
  const double rest = 1 - std::accumulate(row.begin(), row.end(), 0.0);
  if (rest < -rounding)
    throw error(errc::usage, fmt::format("the mixing weights of node {} sum to {}", i, 1 - rest),
                "a node gives away 1 at most and keeps the rest");
  return static_cast<float>(std::max(rest, 0.0));
}

template <class Weight>
mixing_matrix weigh_edges(const graph& g, Weight weight) {
  std::vector<float> weights;
  weights.reserve(g.offset(static_cast<rank>(g.size())));
  for (rank i = 0; i < g.size(); ++i)
    for (rank j : g.neighbours(i))
      weights.push_back(weight(i, j));
  return {g, std::move(weights)};
}

} // namespace

mixing_matrix::mixing_matrix(graph g, std::vector<float> weights) : graph_(std::move(g)), weights_(std::move(weights)) {
  require_fitting(graph_, weights_);
  for (rank i = 0; i < size(); ++i)
    self_.push_back(remainder(i, this->weights(i)));
  for (rank i = 0; i < size(); ++i)
    for (rank j : neighbours(i))
      if (i < j && weight(i, j) != weight(j, i))
        throw error(errc::usage,
                    fmt::format("the mixing weights {} of {}-{} and {} of {}-{} differ", weight(i, j), i, j,
                                weight(j, i), j, i),
                    "a mixing matrix is symmetric");
}

mixing_matrix mixing_matrix::uniform(const graph& g) {
  if (!g.regular())
    throw error(errc::usage, "uniform mixing needs a graph in which all workers have the same number of neighbours",
                "choose mixing metropolis, which equals uniform on regular graphs, or auto");
  return metropolis(g);
}

mixing_matrix mixing_matrix::metropolis(const graph& g) {
  return weigh_edges(g,
                     [&](rank i, rank j) { return 1 / (1 + static_cast<float>(std::max(g.degree(i), g.degree(j)))); });
}

mixing_matrix mixing_matrix::lazy() const {
  auto half = weigh_edges(graph_, [this](rank i, rank j) { return weight(i, j) / 2; });
  half.lazy_ = true;
  return half;
}

mixing_matrix mixing_matrix::along(const graph& g) const { return lazy_ ? metropolis(g).lazy() : metropolis(g); }

float mixing_matrix::weight(rank i, rank j) const {
  if (i == j)
    return self_[i];
  const auto row = neighbours(i);
  const auto found = std::ranges::lower_bound(row, j);
  return found != row.end() && *found == j ? weights(i)[static_cast<std::size_t>(found - row.begin())] : 0;
}

mixing_matrix make_mixing(std::string_view rule, const graph& g) {
  if (rule == "uniform")
    return mixing_matrix::uniform(g);
  if (rule == "metropolis" || rule == "auto")
    return mixing_matrix::metropolis(g);
  if (rule == "lazy")
    return mixing_matrix::metropolis(g).lazy();
  throw unknown_name("mixing rule", rule, {"uniform", "metropolis", "auto", "lazy"});
}

} // namespace gossamer::topology
