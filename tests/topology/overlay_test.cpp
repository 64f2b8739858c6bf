#include "gossamer/topology/mixing.hpp"
#include "gossamer/topology/overlay.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>

namespace gossamer::topology {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

TEST(overlay, keeps_a_ring_a_ring) {
  const overlay all{make_topology("ring", 6, 1)};
  const auto left = all.without(3).without(4);
  EXPECT_THAT(left.members(), ElementsAre(0, 1, 2, 5));
  EXPECT_THAT(left.current().edges(), ElementsAre(Pair(0, 1), Pair(0, 5), Pair(1, 2), Pair(2, 5)));
  EXPECT_THAT(left.current().neighbours(3), IsEmpty());
  EXPECT_FALSE(left.present(3));
  EXPECT_EQ(left.with(4).with(3).current(), all.original());
}

TEST(overlay, joins_the_leaves_of_a_lost_hub_to_a_ring) {
  const auto left = overlay{make_topology("star", 5, 1)}.without(0);
  EXPECT_THAT(left.current().edges(), ElementsAre(Pair(1, 2), Pair(1, 4), Pair(2, 3), Pair(3, 4)));
}

TEST(overlay, adds_nothing_where_the_survivors_are_connected_anyway) {
  EXPECT_EQ(overlay{make_topology("torus", 16, 1)}.without(5).current().edges().size(), 32u - 4);
  EXPECT_EQ(overlay{make_topology("star", 5, 1)}.without(4).current().edges().size(), 3u);
}

TEST(overlay, comes_to_the_same_by_one_change_and_by_many) {
  const overlay all{make_topology("torus", 12, 1)};
  EXPECT_EQ(all.among({1, 0, 0, 1, 1, 1, 0, 1, 1, 1, 1, 1}).current(), all.without(2).without(6).without(1).current());
  EXPECT_EQ(all.among(std::vector<bool>(12, true)).current(), all.original());
}

TEST(overlay, ignores_news_that_are_not_new) {
  const overlay all{make_topology("ring", 5, 1)};
  EXPECT_EQ(all.with(2).current(), all.current());
  EXPECT_EQ(all.without(2).without(2).current(), all.without(2).current());
}

TEST(overlay, refuses_strangers_and_graphs_that_it_cannot_keep_together) {
  const auto message = [](auto action) -> std::string {
    try {
      action();
    } catch (const error& e) {
      EXPECT_EQ(e.code(), errc::usage);
      return e.what();
    }
    return "no error";
  };
  const auto ring = make_topology("ring", 5, 1);
  EXPECT_THAT(message([&] { overlay{ring}.without(5); }), HasSubstr("there is no worker 5"));
  EXPECT_THAT(message([&] { overlay{ring}.among({true, false}); }), HasSubstr("the topology has 5"));
  EXPECT_THAT(message([&] { overlay{graph{2, {}}}; }), HasSubstr("only in a connected graph"));
  EXPECT_THAT(message([&] { overlay(ring, repair::bipartite); }), HasSubstr("0-1-2-3-4-0 has odd length"));
  EXPECT_DEATH(overlay{ring}.roles(), "only a bipartite overlay has roles");
}

TEST(bipartite_overlay, opens_a_ring_and_links_its_pieces_between_classes) {
  const overlay all{make_topology("ring", 8, 1), repair::bipartite};
  const auto one = all.without(3); // its neighbours 2 and 4 are both passive
  EXPECT_EQ(one.current().edges().size(), 6u);
  EXPECT_TRUE(one.current().adjacent(4, 5));
  const auto two = one.without(6); // 4-5 is cut off: 4 goes to an end of 7-0-1-2 that is active
  EXPECT_THAT(two.current().edges(), ElementsAre(Pair(0, 1), Pair(0, 7), Pair(1, 2), Pair(4, 5), Pair(4, 7)));
  EXPECT_THAT(two.roles().active, ElementsAre(1, 5, 7));
  const auto stretch = all.without(3).without(4); // 2 is passive and 5 is active
  EXPECT_TRUE(stretch.current().adjacent(2, 5));
}

TEST(bipartite_overlay, lets_the_lowest_survivor_change_class_when_one_has_died_out) {
  const auto left = overlay{make_topology("star", 5, 1), repair::bipartite}.without(0);
  EXPECT_THAT(left.roles().passive, ElementsAre(1));
  EXPECT_THAT(left.roles().active, ElementsAre(2, 3, 4));
  EXPECT_THAT(left.current().edges(), ElementsAre(Pair(1, 2), Pair(1, 3), Pair(1, 4)));
  const auto last = overlay{make_topology("ring", 2, 1), repair::bipartite}.without(1);
  EXPECT_THAT(last.roles().active, ElementsAre(0)); // the only survivor
}

std::vector<graph> connected_graphs(rank n) {
  const auto all = make_topology("complete", n, 1).edges();
  std::vector<graph> result;
  for (unsigned chosen = 0; chosen < 1u << all.size(); ++chosen) {
    std::vector<graph::edge> edges;
    for (std::size_t e = 0; e < all.size(); ++e)
      if (chosen >> e & 1u)
        edges.push_back(all[e]);
    graph g{n, edges};
    if (g.connected())
      result.push_back(std::move(g));
  }
  return result;
}

/// Expects the survivors, renumbered 0, 1, .., to form a connected graph with all its edges.
void expect_connected(const overlay& left) {
  const auto members = left.members();
  const auto number = [&](rank i) { return static_cast<rank>(std::ranges::lower_bound(members, i) - members.begin()); };
  std::vector<graph::edge> edges;
  for (const auto& [i, j] : left.current().edges()) {
    ASSERT_TRUE(left.present(i) && left.present(j));
    edges.emplace_back(number(i), number(j));
  }
  ASSERT_TRUE((graph{members.size(), edges}.connected()));
}

/// Expects original edges between survivors to stay.
void expect_keeps_original_edges(const overlay& left) {
  for (const auto& [i, j] : left.original().edges())
    ASSERT_TRUE(!left.present(i) || !left.present(j) || left.current().adjacent(i, j));
}

/// Expects the original graph when all workers have returned.
void expect_comes_back(overlay left) {
  for (rank i = 0; i < left.original().size(); ++i)
    left = left.with(i);
  ASSERT_EQ(left.current(), left.original());
}

void expect_doubly_stochastic(const mixing_matrix& w) {
  for (rank i = 0; i < w.size(); ++i) {
    double row = 0, column = 0;
    for (rank j = 0; j < w.size(); ++j) {
      ASSERT_EQ(w.weight(i, j), w.weight(j, i));
      ASSERT_GE(w.weight(i, j), 0);
      row += w.weight(i, j);
      column += w.weight(j, i);
    }
    ASSERT_NEAR(row, 1, 1e-6);
    ASSERT_NEAR(column, 1, 1e-6);
  }
}

/// Expects every worker to keep its class while both classes survive, and every edge to join the classes.
void expect_two_coloured(const overlay& left) {
  const auto& [active, passive] = left.roles();
  ASSERT_EQ(active.size() + passive.size(), left.members().size());
  for (const auto& [i, j] : left.current().edges())
    ASSERT_NE(std::ranges::binary_search(active, i), std::ranges::binary_search(active, j));
  const auto original = split(left.original());
  const auto survives = [&](rank i) { return left.present(i); };
  const bool both = std::ranges::any_of(original.active, survives) && std::ranges::any_of(original.passive, survives);
  ASSERT_TRUE(!both || std::ranges::includes(original.active, active));
}

/// Tries all losses from here on. The graph depends on the set of survivors alone. Up to four workers are lost in every
/// order. Among more, a set that was reached before is compared, and not left again.
void lose_all(const overlay& left, bool bipartite, std::map<std::vector<rank>, graph>& seen) {
  const auto [known, fresh] = seen.emplace(left.members(), left.current());
  ASSERT_EQ(known->second, left.current());
  if (fresh) {
    expect_connected(left);
    expect_keeps_original_edges(left);
    expect_comes_back(left);
    expect_doubly_stochastic(make_mixing("auto", left.current()));
    if (bipartite)
      expect_two_coloured(left);
  } else if (left.original().size() > 4) {
    return;
  }
  for (rank i : left.members()) {
    const auto next = left.without(i);
    lose_all(next, bipartite, seen);
    if (testing::Test::HasFatalFailure())
      return;
  }
}

class every_small_graph : public testing::TestWithParam<rank> {};

TEST_P(every_small_graph, stays_connected_in_every_order_of_losses) {
  for (const auto& g : connected_graphs(GetParam())) {
    std::map<std::vector<rank>, graph> seen;
    lose_all(overlay{g}, false, seen);
    seen.clear();
    if (bipartite_part(g) == g)
      lose_all(overlay{g, repair::bipartite}, true, seen);
    if (HasFatalFailure())
      return;
  }
}

INSTANTIATE_TEST_SUITE_P(sizes, every_small_graph, testing::Values(1, 2, 3, 4, 5));

} // namespace
} // namespace gossamer::topology
