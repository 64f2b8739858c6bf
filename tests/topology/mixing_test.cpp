#include "gossamer/topology/spectrum.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <tuple>

#include "support/usage_error.hpp"

namespace gossamer::topology {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

graph make(std::size_t size, std::vector<graph::edge> edges) { return {size, edges}; }

TEST(mixing_matrix, is_a_third_on_a_ring) {
  const auto w = mixing_matrix::uniform(make_topology("ring", 5, 1));
  EXPECT_THAT(w.weights(0), ElementsAre(1 / 3.0f, 1 / 3.0f));
  EXPECT_FLOAT_EQ(w.self_weight(0), 1 / 3.0f);
  EXPECT_EQ(w.weight(0, 4), 1 / 3.0f);
  EXPECT_EQ(w.weight(0, 2), 0.0f);
  EXPECT_EQ(w.weight(2, 2), w.self_weight(2));
}

TEST(mixing_matrix, follows_metropolis_on_a_path) {
  const auto w = mixing_matrix::metropolis(make(3, {{0, 1}, {1, 2}}));
  EXPECT_EQ(w.weight(0, 1), 1 / 3.0f);
  EXPECT_FLOAT_EQ(w.self_weight(0), 2 / 3.0f);
  EXPECT_FLOAT_EQ(w.self_weight(1), 1 / 3.0f);
  EXPECT_EQ(mixing_matrix::metropolis(make(2, {})).self_weight(0), 1.0f);
}

TEST(mixing_matrix, is_lazy_by_half) {
  const auto w = mixing_matrix::uniform(make_topology("ring", 4, 1)).lazy();
  EXPECT_FLOAT_EQ(w.weight(0, 1), 1 / 6.0f);
  EXPECT_FLOAT_EQ(w.self_weight(0), 2 / 3.0f);
  EXPECT_NEAR(spectrum_of(w).rho, 2 / 3.0, 1e-6); // (1 + 1/3) / 2
}

TEST(mixing_matrix, refuses_weights_that_do_not_average) {
  const auto pair = make(2, {{0, 1}});
  const auto with = [&](float a, float b) { return usage_error([&] { mixing_matrix(pair, {a, b}); }); };
  EXPECT_THAT(with(0.25f, 0.5f), HasSubstr("0.25 of 0-1 and 0.5 of 1-0 differ; a mixing matrix is symmetric"));
  EXPECT_THAT(with(-0.5f, -0.5f), HasSubstr("node 0 has the mixing weight -0.5"));
  EXPECT_THAT(with(1.5f, 1.5f), HasSubstr("sum to 1.5"));
  EXPECT_THAT(with(std::nanf(""), 0.5f), HasSubstr("weight nan"));
  EXPECT_THAT(usage_error([&] { mixing_matrix(pair, {0.5f}); }), HasSubstr("do not fit"));
  EXPECT_THAT(usage_error([&] { mixing_matrix(pair, {0.5f, 0.5f, 0.1f}); }), HasSubstr("do not fit"));
  EXPECT_EQ(mixing_matrix(pair, {1, 1}).self_weight(1), 0.0f);
}

TEST(mixing_matrix, keeps_its_rule_along_another_graph) {
  const auto ring = make_topology("ring", 5, 1), star = make_topology("star", 5, 1);
  for (const char* rule : {"auto", "lazy"}) {
    const auto there = make_mixing(rule, ring).along(star), expected = make_mixing(rule, star);
    for (rank i = 0; i < 5; ++i)
      for (rank j = 0; j < 5; ++j)
        EXPECT_EQ(there.weight(i, j), expected.weight(i, j)) << rule;
  }
  EXPECT_FLOAT_EQ(make_mixing("lazy", ring).weight(0, 1), 1 / 6.0f);
}

TEST(make_mixing, knows_its_rules) {
  const auto ring = make_topology("ring", 5, 1), star = make_topology("star", 5, 1);
  for (rank i = 0; i < 5; ++i)
    for (rank j = 0; j < 5; ++j) {
      EXPECT_EQ(make_mixing("auto", ring).weight(i, j), make_mixing("uniform", ring).weight(i, j));
      EXPECT_EQ(make_mixing("auto", star).weight(i, j), make_mixing("metropolis", star).weight(i, j));
    }
  EXPECT_THAT(usage_error([&] { std::ignore = make_mixing("uniform", star); }), HasSubstr("choose mixing metropolis"));
  EXPECT_THAT(usage_error([&] { std::ignore = make_mixing("metropolys", star); }),
              HasSubstr("did you mean 'metropolis'?"));
}

TEST(spectrum, is_trivial_for_one_worker) {
  const auto s = spectrum_of(make_mixing("auto", make(1, {})));
  EXPECT_EQ(s.rho, 0);
  EXPECT_EQ(s.gap, 1);
  EXPECT_EQ(s.dcd_alpha_limit(), std::numeric_limits<double>::infinity());
}

TEST(spectrum, sees_that_a_disconnected_graph_never_agrees) {
  EXPECT_NEAR(spectrum_of(make_mixing("auto", make(4, {{0, 1}, {2, 3}}))).rho, 1, 1e-12);
}

TEST(spectrum, leaves_out_those_who_are_not_members) {
  const auto w = make_mixing("auto", make(4, {{0, 1}, {1, 3}, {0, 3}}));
  const std::vector<rank> members{0, 1, 3};
  EXPECT_NEAR(spectrum_of(w).rho, 1, 1e-12);
  EXPECT_NEAR(spectrum_of(w, members).rho, 0, 1e-6); // a triangle averages exactly
}

TEST(pairwise_rho, is_zero_for_a_pair_and_one_when_nobody_talks) {
  EXPECT_NEAR(pairwise_rho(make(2, {{0, 1}}), {{1}, {0}}), 0,
              1e-12); // one exchange averages exactly
  EXPECT_EQ(pairwise_rho(make(2, {}), {{0, 1}, {}}), 1);
  EXPECT_EQ(pairwise_rho(make(1, {}), {{0}, {}}), 0);
}

} // namespace
} // namespace gossamer::topology
