// Random graphs: a function of the seed alone, the same on every machine.
#include "gossamer/base/philox.hpp"
#include "gossamer/topology/detail/entries.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace gossamer::topology::detail {
namespace {

/// Draws until a graph is connected; attempt t reads step t of the random numbers for topologies.
template <class Draw>
std::optional<graph> first_connected(std::uint64_t seed, std::uint64_t attempts, Draw draw) {
  const random_stream stream{seed, 0, purpose::topology};
  for (std::uint64_t attempt = 0; attempt < attempts; ++attempt) {
    random_sequence random{stream, attempt};
    std::optional<graph> g = draw(random);
    if (g && g->connected())
      return g;
  }
  return std::nullopt;
}

/// Gives every node `degree` loose ends, and ties two random ends at a time unless that would make a loop or a double
/// edge. Returns `nullopt` when the last ends cannot be tied.
std::optional<graph> tie_loose_ends(random_sequence& random, std::size_t size, std::size_t degree) {
  std::vector<rank> ends;
  for (rank i = 0; i < size; ++i)
    ends.insert(ends.end(), degree, i);
  std::vector<std::vector<rank>> tied(size);
  std::vector<graph::edge> edges;
  const auto take_to = [&](std::size_t from, std::size_t back) {
    std::swap(ends[from], ends[ends.size() - back]);
    return ends[ends.size() - back];
  };
  for (int refused = 0; !ends.empty();) {
    const auto count = static_cast<std::uint32_t>(ends.size());
    const rank i = take_to(random.below(count), 1);
    const rank j = take_to(random.below(count - 1), 2);
    if (i == j || std::ranges::find(tied[i], j) != tied[i].end()) {
      if (++refused == 100)
        return std::nullopt;
      continue;
    }
    refused = 0;
    tied[i].push_back(j);
    tied[j].push_back(i);
    edges.emplace_back(i, j);
    ends.resize(ends.size() - 2);
  }
  return graph{size, edges};
}

graph complement(const graph& g) {
  std::vector<graph::edge> edges;
  for (rank i = 0; i < g.size(); ++i)
    for (rank j = i + 1; j < g.size(); ++j)
      if (!g.adjacent(i, j))
        edges.emplace_back(i, j);
  return {g.size(), edges};
}

std::string possible_degrees(std::size_t size) {
  if (size <= 3)
    return fmt::format("allowed: degree={}", size - 1);
  return fmt::format("allowed: degree 2 to {}{}", size - 1,
                     size % 2 == 1 ? ", an even number because that of the workers is odd" : "");
}

void require_regular_exists(std::size_t size, std::size_t degree) {
  const bool exists = degree < size && size * degree % 2 == 0;
  if (!exists || (degree == 1 && size > 2))
    throw error(errc::usage, fmt::format("there is no connected graph of {} workers with degree {} each", size, degree),
                possible_degrees(size));
}

graph make_random_regular(const arguments& values, std::size_t size, std::uint64_t seed) {
  const auto degree = static_cast<std::size_t>(values.integer("degree"));
  require_regular_exists(size, degree);
  require_edges(fmt::format("topology 'random-regular:degree={}' of {} workers", degree, size),
                0.5 * static_cast<double>(size) * static_cast<double>(degree));
  // A dense graph is drawn as the complement of a sparse one, where loose ends can be tied.
  const bool dense = 2 * degree > size - 1;
  const auto drawn_degree = dense ? size - 1 - degree : degree;
  const auto found = first_connected(seed, 10'000, [&](random_sequence& random) {
    auto g = tie_loose_ends(random, size, drawn_degree);
    return g && dense ? complement(*g) : std::move(g);
  });
  if (!found)
    throw error(errc::usage,
                fmt::format("no connected graph of {} workers with degree {} was found in 10000 draws", size, degree),
                "choose another seed or a larger degree; degree 2 is topology ring");
  return *found;
}

/// True if the graph is almost surely not connected: P(no node is lonely) is about exp(-expected number of lonely
/// nodes).
bool hopeless(std::size_t size, double p) {
  const auto n = static_cast<double>(size);
  return n * std::pow(1 - p, n - 1) > 8;
}

graph make_erdos_renyi(const arguments& values, std::size_t size, std::uint64_t seed) {
  const double p = values.real("p");
  require_edges(fmt::format("topology 'erdos-renyi:p={:.3g}' of {} workers", p, size), p * pairs_of(size));
  const auto found = first_connected(seed, hopeless(size, p) ? 0 : 200, [&](random_sequence& random) {
    std::vector<graph::edge> edges;
    // One geometric draw skips the pairs between two edges: time O(edges), not O(pairs) (Batagelj, Brandes 2005).
    const double scale = std::log1p(-p); // minus infinity for p = 1: nothing is skipped
    double j = -1;
    for (rank i = 1; p > 0 && i < size;) {
      j += 1 + std::floor(std::log(1 - random.uniform_double()) / scale);
      for (; i < size && j >= i; ++i)
        j -= i;
      if (i < size)
        edges.emplace_back(static_cast<rank>(j), i);
    }
    return std::optional<graph>{graph{size, edges}};
  });
  if (!found)
    throw error(errc::usage, fmt::format("random graphs of {} workers with p={} are hardly ever connected", size, p),
                fmt::format("choose p well above the connectivity threshold ln(n)/n = {:.3g}",
                            std::log(static_cast<double>(size)) / static_cast<double>(size)));
  return *found;
}

} // namespace

topology_entry random_regular() {
  return {{.name = "random-regular",
           .summary = "a random connected graph in which all workers have the same degree",
           .maths = "configuration model: n * degree loose ends are tied in random pairs, refusing "
                    "loops and "
                    "double edges; drawn again when stuck or disconnected",
           .reference = "Steger, Wormald, \"Generating random regular graphs quickly\", Combinatorics, "
                        "Probability and Computing 8, 1999",
           .cost = "the given degree, diameter O(log n)",
           .parameters = {{.key = "degree",
                           .kind = parameter::type::integer,
                           .fallback = "4",
                           .meaning = "neighbours of each worker; n * degree is even",
                           .min = 1,
                           .max = max_workers - 1}}},
          make_random_regular};
}

topology_entry erdos_renyi() {
  return {{.name = "erdos-renyi",
           .summary = "every pair of workers is joined with the same probability; drawn again until connected",
           .maths = "P({i, j} is an edge) = p, independently; connected with high probability above ln(n)/n",
           .reference = "Gilbert, \"Random graphs\", Annals of Mathematical Statistics 30, 1959; Erdos, Renyi, "
                        "\"On random graphs I\", Publicationes Mathematicae 6, 1959",
           .cost = "mean degree p (n - 1)",
           .parameters = {{.key = "p",
                           .kind = parameter::type::real,
                           .fallback = "0.3",
                           .meaning = "probability of an edge",
                           .min = 0,
                           .max = 1}}},
          make_erdos_renyi};
}

} // namespace gossamer::topology::detail
