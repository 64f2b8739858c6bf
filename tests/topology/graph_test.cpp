#include "gossamer/topology/spanning_tree.hpp"

#include <gmock/gmock.h>

namespace gossamer::topology {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

graph make(std::size_t size, std::vector<graph::edge> edges) { return {size, edges}; }

TEST(graph, keeps_each_edge_once_in_ascending_order) {
  const auto g = make(4, {{3, 0}, {0, 1}, {1, 0}, {0, 3}, {2, 3}});
  EXPECT_THAT(g.edges(), ElementsAre(Pair(0, 1), Pair(0, 3), Pair(2, 3)));
  EXPECT_THAT(g.neighbours(0), ElementsAre(1, 3));
  EXPECT_THAT(g.neighbours(3), ElementsAre(0, 2));
  EXPECT_EQ(g.degree(2), 1u);
  EXPECT_TRUE(g.adjacent(3, 2));
  EXPECT_FALSE(g.adjacent(1, 2));
  EXPECT_FALSE(g.adjacent(1, 1));
}

TEST(graph, refuses_loops_and_ends_out_of_range) {
  const auto message = [](std::size_t size, graph::edge e) -> std::string {
    try {
      make(size, {e});
    } catch (const error& problem) {
      EXPECT_EQ(problem.code(), errc::usage);
      return problem.what();
    }
    return "no error";
  };
  EXPECT_THAT(message(3, {1, 1}), HasSubstr("1-1 joins a node to itself"));
  EXPECT_THAT(message(3, {0, 3}), HasSubstr("0-3 leaves a graph of 3 nodes"));
  EXPECT_THAT(message(0, {0, 1}), HasSubstr("0-1 leaves"));
}

TEST(graph, knows_whether_it_is_connected_and_regular) {
  EXPECT_TRUE(graph{}.connected());
  EXPECT_TRUE(make(1, {}).connected());
  EXPECT_FALSE(make(2, {}).connected());
  EXPECT_FALSE(make(4, {{0, 1}, {2, 3}}).connected());
  EXPECT_TRUE(make(4, {{0, 1}, {2, 3}}).regular());
  EXPECT_TRUE(make(3, {{0, 2}, {1, 2}}).connected());
  EXPECT_FALSE(make(3, {{0, 2}, {1, 2}}).regular());
}

TEST(graph, measures_its_diameter) {
  EXPECT_EQ(graph{}.diameter(), 0u);
  EXPECT_EQ(make(1, {}).diameter(), 0u);
  EXPECT_EQ(make(2, {{0, 1}}).diameter(), 1u);
  EXPECT_EQ(make(5, {{2, 0}, {0, 4}, {4, 1}, {1, 3}}).diameter(),
            4u); // a path whose numbers are out of order
  EXPECT_DEATH(make(2, {}).diameter(), "connected graphs only");
}

TEST(spanning_tree, joins_each_node_to_the_lowest_neighbour_that_is_nearer_to_the_root) {
  const auto ring = make(6, {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 0}});
  EXPECT_THAT(spanning_tree(ring, 0).edges(), ElementsAre(Pair(0, 1), Pair(0, 5), Pair(1, 2), Pair(2, 3), Pair(4, 5)));
  const auto complete = make(4, {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}});
  EXPECT_THAT(spanning_tree(complete, 2).edges(), ElementsAre(Pair(0, 2), Pair(1, 2), Pair(2, 3)));
}

TEST(spanning_tree, leaves_out_what_the_root_does_not_reach) {
  const auto apart = make(5, {{0, 4}, {1, 3}});
  EXPECT_THAT(spanning_tree(apart, 1).edges(), ElementsAre(Pair(1, 3)));
  EXPECT_EQ(spanning_tree(make(1, {}), 0).edges().size(), 0u);
}

} // namespace
} // namespace gossamer::topology
