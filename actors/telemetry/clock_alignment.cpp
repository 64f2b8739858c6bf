#include "gossamer/actors/telemetry/clock_alignment.hpp"

#include <algorithm>

namespace gossamer::actors {

namespace {

using lengths = std::vector<std::optional<std::int64_t>>;

/// Returns the length of the shortest way between the reference and each process (Bellman and Ford). Lengths may be
/// negative, as clocks differ; a circle is not, but for clocks that drift apart, and then the rounds end it.
template <class Edges, class EndsOf>
lengths shortest_ways(const Edges& edges, std::size_t processes, std::uint32_t reference, const EndsOf& ends_of) {
  lengths result(processes);
  result.at(reference) = 0;
  bool changes = true;
  for (std::size_t round = 0; changes && round < processes; ++round) {
    changes = false;
    for (const auto& [pair, length] : edges) {
      const auto [near, far] = ends_of(pair);
      if (!result.at(near))
        continue;
      const auto by_this = *result.at(near) + length;
      if (!result.at(far) || by_this < *result.at(far)) {
        result.at(far) = by_this;
        changes = true;
      }
    }
  }
  return result;
}

} // namespace

void clock_alignment::crossed(process from, std::int64_t sent_ns, process to, std::int64_t received_ns) {
  const auto took = received_ns - sent_ns;
  const auto [known, fresh] = shortest_.try_emplace({from, to}, took);
  if (!fresh)
    known->second = std::min(known->second, took);
}

std::vector<std::optional<std::int64_t>> clock_alignment::offsets(std::size_t processes, process reference) const {
  const auto outwards = shortest_ways(shortest_, processes, reference, [](const auto& pair) { return pair; });
  const auto homewards = shortest_ways(shortest_, processes, reference, [](const auto& pair) {
    return std::pair{pair.second, pair.first};
  });
  std::vector<std::optional<std::int64_t>> result(processes);
  for (std::size_t p = 0; p < processes; ++p)
    if (outwards[p] && homewards[p])
      result[p] = (*homewards[p] - *outwards[p]) / 2;
  return result;
}

} // namespace gossamer::actors
