// Products of rings and of single edges.
#include "gossamer/topology/detail/entries.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <bit>

namespace gossamer::topology::detail {
namespace {

std::vector<std::size_t> divisors(std::size_t n) {
  std::vector<std::size_t> result;
  for (std::size_t d = 1; d <= n; ++d)
    if (n % d == 0)
      result.push_back(d);
  return result;
}

/// Number of rows: as asked, or the largest divisor that makes no more rows than columns.
std::size_t torus_rows(std::size_t asked, std::size_t size) {
  const auto possible = divisors(size);
  if (asked == 0) {
    std::size_t best = 1;
    for (auto d : possible)
      if (d * d <= size)
        best = d;
    return best;
  }
  if (size % asked != 0)
    throw error(errc::usage, fmt::format("a torus of {} workers cannot have {} rows", size, asked),
                fmt::format("allowed: rows={}, or rows=0 for the most square one", fmt::join(possible, ", ")));
  return asked;
}

graph make_torus(const arguments& values, std::size_t size, std::uint64_t) {
  const auto rows = torus_rows(static_cast<std::size_t>(values.integer("rows")), size);
  const auto columns = size / rows;
  const auto node = [&](std::size_t r, std::size_t c) { return static_cast<rank>(r % rows * columns + c % columns); };
  std::vector<graph::edge> edges;
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t c = 0; c < columns; ++c) {
      if (rows > 1)
        edges.emplace_back(node(r, c), node(r + 1, c));
      if (columns > 1)
        edges.emplace_back(node(r, c), node(r, c + 1));
    }
  return {size, edges};
}

graph make_hypercube(const arguments&, std::size_t size, std::uint64_t) {
  if (!std::has_single_bit(size))
    throw error(errc::usage, fmt::format("a hypercube cannot have {} workers", size),
                fmt::format("allowed: powers of two, e.g. {} or {}", std::bit_floor(size), std::bit_ceil(size)));
  std::vector<graph::edge> edges;
  for (rank i = 0; i < size; ++i)
    for (rank bit = 1; bit < size; bit <<= 1)
      if ((i & bit) == 0)
        edges.emplace_back(i, i | bit);
  return {size, edges};
}

} // namespace

topology_entry torus() {
  return {{.name = "torus",
           .summary = "a grid whose rows and columns are closed to rings; bipartite when both sides are even",
           .maths = "(r, c) ~ (r+1, c) and (r, c+1), modulo rows and columns; in a side of 2 the two edges "
                    "coincide and count once, a side of 1 has none",
           .cost = "degree 4 (3 with a side of 2), diameter rows/2 + columns/2",
           .parameters = {{.key = "rows",
                           .kind = parameter::type::integer,
                           .fallback = "0",
                           .meaning = "number of rows, a divisor of n; 0 chooses the most square torus",
                           .min = 0,
                           .max = max_workers}}},
          make_torus};
}

topology_entry hypercube() {
  return {{.name = "hypercube",
           .summary = "workers whose numbers differ in one bit talk; n is a power of two; bipartite",
           .maths = "i ~ i xor 2^b for b = 0 .. log2(n) - 1",
           .cost = "degree and diameter log2 n"},
          make_hypercube};
}

} // namespace gossamer::topology::detail
