#include "gossamer/topology/detail/entries.hpp"
#include "gossamer/topology/detail/search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace gossamer::topology {

const registry<topology_entry>& topologies() {
  static const std::array entries{
      detail::automatic(),      detail::complete(),    detail::star(),      detail::ring(),
      detail::even_ring(),      detail::torus(),       detail::hypercube(), detail::exponential(),
      detail::random_regular(), detail::erdos_renyi(), detail::file(),      detail::measured(),
  };
  static const registry<topology_entry> table{"topology", entries};
  return table;
}

namespace {

void require_connected(const graph& g, std::string_view text) {
  const auto root = detail::search(g).root;
  const auto apart = std::ranges::find_if(root, [](rank r) { return r != 0; });
  if (apart != root.end())
    throw error(errc::usage,
                fmt::format("topology '{}' does not connect its {} workers: worker {} cannot reach worker 0", text,
                            g.size(), apart - root.begin()),
                "add an edge between the two parts, or choose a topology that always connects: ring, "
                "exponential, complete");
}

} // namespace

graph make_topology(std::string_view text, std::size_t size, std::uint64_t seed,
                    const registry<topology_entry>& known) {
  const auto [entry, values] = known.resolve(text);
  if (size < 1 || size > max_workers)
    throw error(errc::usage, fmt::format("topology '{}' cannot have {} workers", text, size),
                fmt::format("allowed: 1 to {}", max_workers));
  if (size == 1)
    return {1, {}};
  auto result = entry.make(values, size, seed);
  if (result.size() != size)
    throw error(errc::usage, fmt::format("topology '{}' made a graph of {} for {} workers", text, result.size(), size),
                "its function `make` has to return a graph of the size that it is given");
  require_connected(result, text);
  return result;
}

} // namespace gossamer::topology
