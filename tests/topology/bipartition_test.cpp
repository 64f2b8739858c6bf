#include "gossamer/topology/bipartition.hpp"

#include <gmock/gmock.h>

#include <algorithm>

namespace gossamer::topology {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

graph make(std::size_t size, std::vector<graph::edge> edges) { return {size, edges}; }

std::string refusal(const graph& g) {
  try {
    split(g);
  } catch (const error& e) {
    EXPECT_EQ(e.code(), errc::usage);
    return e.what();
  }
  ADD_FAILURE() << "the graph is bipartite";
  return {};
}

TEST(split, makes_the_odd_workers_of_a_ring_active) {
  const auto classes = split(make_topology("ring", 6, 1));
  EXPECT_THAT(classes.active, ElementsAre(1, 3, 5));
  EXPECT_THAT(classes.passive, ElementsAre(0, 2, 4));
}

TEST(split, colours_each_component_and_makes_lonely_nodes_active) {
  const auto classes = split(make(6, {{1, 2}, {3, 5}, {5, 4}}));
  EXPECT_THAT(classes.active, ElementsAre(0, 2, 5));
  EXPECT_THAT(classes.passive, ElementsAre(1, 3, 4));
  EXPECT_THAT(split(graph{}).active, IsEmpty());
  EXPECT_THAT(split(make(1, {})).active, ElementsAre(0));
}

TEST(split, writes_out_an_odd_cycle) {
  EXPECT_THAT(refusal(make_topology("ring", 3, 1)),
              HasSubstr("the cycle 0-1-2-0 has odd length; choose auto or even-ring, ring"));
  EXPECT_THAT(refusal(make_topology("ring", 5, 1)), HasSubstr("the cycle 0-1-2-3-4-0 has odd length"));
  // A triangle stands at the end of a path, in the second component.
  EXPECT_THAT(refusal(make(7, {{0, 1}, {2, 3}, {3, 4}, {4, 5}, {5, 6}, {6, 4}})), HasSubstr("the cycle 4-5-6-4 has"));
}

// The hops in the AD-PSGD paper, 2^i + 1 from i = 0, join equal parities.
TEST(split, refuses_the_hop_set_that_the_paper_prints) {
  std::vector<graph::edge> edges;
  for (rank hop : {2u, 3u, 5u})
    for (rank i = 0; i < 8; ++i)
      edges.emplace_back(i, (i + hop) % 8);
  EXPECT_THAT(refusal(make(8, edges)), HasSubstr("has odd length"));
  EXPECT_NO_THROW(split(make_topology("exponential", 8, 1)));
}

// For all graphs of up to five nodes, the part is bipartite, a subgraph with the same components, and the whole graph
// if possible.
TEST(bipartite_part, keeps_what_is_connected_connected) {
  for (rank n = 0; n <= 5; ++n) {
    const auto all = make_topology("complete", std::max(n, 1u), 1).edges();
    for (unsigned chosen = 0; chosen < 1u << all.size(); ++chosen) {
      std::vector<graph::edge> edges;
      for (std::size_t e = 0; e < all.size(); ++e)
        if (chosen >> e & 1u)
          edges.push_back(all[e]);
      const auto g = make(n, edges);
      const auto part = bipartite_part(g);
      ASSERT_NO_THROW(split(part));
      ASSERT_EQ(part.connected(), g.connected());
      ASSERT_TRUE(std::ranges::includes(g.edges(), part.edges()));
      bool bipartite = true;
      try {
        split(g);
      } catch (const error&) {
        bipartite = false;
      }
      ASSERT_EQ(part == g, bipartite);
    }
  }
}

} // namespace
} // namespace gossamer::topology
