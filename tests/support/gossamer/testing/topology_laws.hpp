#pragma once

// The promises of every topology, as expectations of googletest on a graph that `make_topology` has made.
#include "gossamer/topology/bipartition.hpp"
#include "gossamer/topology/spectrum.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <functional>
#include <vector>

namespace gossamer::topology {

/// The graph has no loop, is symmetric, and is one.
inline void expect_simple_and_connected(const graph& g) {
  EXPECT_TRUE(g.connected());
  for (rank i = 0; i < g.size(); ++i) {
    const auto row = g.neighbours(i);
    EXPECT_EQ(std::ranges::adjacent_find(row, std::greater_equal{}),
              row.end()); // ascending and distinct
    for (rank j : row) {
      EXPECT_NE(i, j);
      EXPECT_TRUE(g.adjacent(j, i));
    }
  }
}

/// Averaging along the graph keeps the mean of all workers.
inline void expect_doubly_stochastic_mixing(const graph& g) {
  const auto w = make_mixing("auto", g);
  std::vector<double> column(g.size());
  for (rank i = 0; i < g.size(); ++i) {
    double row = w.self_weight(i);
    column[i] += w.self_weight(i);
    EXPECT_GE(w.self_weight(i), 0);
    for (rank j : g.neighbours(i)) {
      EXPECT_GE(w.weight(i, j), 0);
      EXPECT_EQ(w.weight(i, j), w.weight(j, i));
      row += w.weight(i, j);
      column[j] += w.weight(i, j);
    }
    EXPECT_NEAR(row, 1, 1e-6);
  }
  EXPECT_THAT(column, testing::Each(testing::DoubleNear(1, 1e-6)));
}

/// Averaging makes the workers agree. (Of larger graphs the spectrum takes long.)
inline void expect_agreement(const graph& g) {
  if (g.size() <= 36) {
    EXPECT_LT(spectrum_of(make_mixing("auto", g)).rho, 1 - 1e-4);
  }
}

/// The bipartite part connects all workers, and its classes have no inner edges.
inline void expect_bipartite_part(const graph& g) {
  const auto part = bipartite_part(g);
  EXPECT_TRUE(part.connected());
  const auto classes = split(part);
  EXPECT_EQ(classes.active.size() + classes.passive.size(), g.size());
  for (const auto& [i, j] : part.edges())
    EXPECT_NE(std::ranges::binary_search(classes.active, i), std::ranges::binary_search(classes.active, j));
}

/// All of them.
inline void expect_topology_laws(const graph& g) {
  expect_simple_and_connected(g);
  expect_doubly_stochastic_mixing(g);
  expect_agreement(g);
  expect_bipartite_part(g);
}

} // namespace gossamer::topology
