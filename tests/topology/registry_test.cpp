#include "gossamer/topology/graph.hpp"

#include <gmock/gmock.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <tuple>

namespace gossamer::topology {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

/// Returns the message of the error that the request must cause.
std::string refusal(std::string_view text, std::size_t size, errc code = errc::usage, std::uint64_t seed = 1) {
  try {
    std::ignore = make_topology(text, size, seed);
  } catch (const error& e) {
    EXPECT_EQ(e.code(), code) << e.what();
    return e.what();
  }
  ADD_FAILURE() << text << " exists with " << size << " workers";
  return {};
}

/// A file of edges that is removed with the object.
class edge_file {
public:
  explicit edge_file(std::string_view text) : path_(testing::TempDir() + "gossamer_edges.txt") {
    std::ofstream{path_} << text;
  }
  edge_file(const edge_file&) = delete;
  edge_file& operator=(const edge_file&) = delete;
  ~edge_file() { std::remove(path_.c_str()); }

  const std::string& path() const { return path_; }
  std::string spec() const { return "file:path=" + path_; }

private:
  std::string path_;
};

TEST(topologies, have_a_summary_and_a_cost) {
  for (const auto& entry : topologies()) {
    EXPECT_FALSE(entry.about.summary.empty()) << entry.about.name;
    EXPECT_FALSE(entry.about.maths.empty()) << entry.about.name;
    EXPECT_FALSE(entry.about.cost.empty()) << entry.about.name;
  }
}

TEST(make_topology, builds_the_small_ones_as_drawn_by_hand) {
  EXPECT_EQ(make_topology("complete", 4, 1).edges().size(), 6u);
  EXPECT_THAT(make_topology("star", 3, 1).edges(), ElementsAre(Pair(0, 1), Pair(0, 2)));
  EXPECT_THAT(make_topology("ring", 4, 1).edges(), ElementsAre(Pair(0, 1), Pair(0, 3), Pair(1, 2), Pair(2, 3)));
  EXPECT_EQ(make_topology("even-ring", 6, 1), make_topology("ring", 6, 1));
  EXPECT_THAT(make_topology("even-ring", 3, 1).edges(), ElementsAre(Pair(0, 1), Pair(0, 2)));
  EXPECT_THAT(make_topology("even-ring", 5, 1).edges(),
              ElementsAre(Pair(0, 1), Pair(0, 3), Pair(0, 4), Pair(1, 2), Pair(2, 3), Pair(2, 4)));
  EXPECT_THAT(make_topology("torus:rows=2", 8, 1).neighbours(0), ElementsAre(1, 3, 4)); // two rows: degree 3
  EXPECT_THAT(make_topology("torus", 9, 1).neighbours(4), ElementsAre(1, 3, 5, 7));
  EXPECT_THAT(make_topology("hypercube", 8, 1).neighbours(5), ElementsAre(1, 4, 7));
  EXPECT_THAT(make_topology("exponential", 16, 1).neighbours(0), ElementsAre(1, 3, 5, 7, 9, 11, 13, 15));
}

TEST(make_topology, gives_two_workers_one_edge) {
  for (const char* text : {"complete", "star", "ring", "torus", "torus:rows=2", "hypercube", "exponential",
                           "random-regular:degree=1", "erdos-renyi"})
    EXPECT_THAT(make_topology(text, 2, 1).edges(), ElementsAre(Pair(0, 1))) << text;
}

TEST(make_topology, makes_the_most_square_torus) {
  EXPECT_EQ(make_topology("torus", 12, 1), make_topology("torus:rows=3", 12, 1));
  EXPECT_EQ(make_topology("torus", 16, 1), make_topology("torus:rows=4", 16, 1));
  EXPECT_EQ(make_topology("torus", 7, 1), make_topology("ring", 7, 1));
}

TEST(make_topology, refuses_impossible_sizes_and_says_which_are_possible) {
  EXPECT_THAT(refusal("ring", 0), HasSubstr("cannot have 0 workers; allowed: 1 to 1000000"));
  EXPECT_THAT(refusal("ring", max_workers + 1), HasSubstr("allowed: 1 to 1000000"));
  EXPECT_THAT(refusal("hypercube", 12), HasSubstr("powers of two, e.g. 8 or 16"));
  EXPECT_THAT(refusal("torus:rows=5", 12), HasSubstr("rows=1, 2, 3, 4, 6, 12, or rows=0"));
  EXPECT_THAT(refusal("random-regular", 4), HasSubstr("allowed: degree 2 to 3"));
  EXPECT_THAT(refusal("random-regular:degree=3", 7), HasSubstr("an even number"));
  EXPECT_THAT(refusal("random-regular:degree=1", 6), HasSubstr("no connected graph"));
  EXPECT_THAT(refusal("random-regular", 2), HasSubstr("allowed: degree=1"));
  EXPECT_THAT(refusal("rnig", 4), HasSubstr("did you mean 'ring'?"));
}

TEST(make_topology, refuses_a_graph_of_another_size_than_asked_for) {
  const std::array own{
      topology_entry{.about = {.name = "wheel"}, .make = [](const arguments&, std::size_t size, std::uint64_t) {
                       return make_topology("ring", size + 1, 1);
                     }}};
  try {
    std::ignore = make_topology("wheel", 4, 1, {"topology", own});
    ADD_FAILURE() << "accepted";
  } catch (const error& e) {
    EXPECT_EQ(e.code(), errc::usage);
    EXPECT_THAT(e.what(), HasSubstr("topology 'wheel' made a graph of 5 for 4 workers"));
  }
}

TEST(make_topology, gives_up_on_a_random_graph_below_the_threshold) {
  EXPECT_THAT(refusal("erdos-renyi:p=0.001", 50),
              HasSubstr("with p=0.001 are hardly ever connected; choose p well above the connectivity threshold "
                        "ln(n)/n = 0.0782"));
  EXPECT_THAT(refusal("erdos-renyi:p=0.00001", max_workers),
              HasSubstr("1.38e-05")); // does not try for long
  EXPECT_THAT(refusal("erdos-renyi:p=0", 2), HasSubstr("p=0"));
}

TEST(make_topology, refuses_more_edges_than_fit_before_it_makes_them) {
  EXPECT_THAT(refusal("complete", 16'385),
              HasSubstr("topology 'complete' of 16385 workers would have 134225920 edges; allowed: 134217728 edges"));
  EXPECT_THAT(refusal("random-regular:degree=1000", 500'000), HasSubstr("would have 250000000 edges"));
  EXPECT_THAT(refusal("erdos-renyi:p=0.5", 100'000), HasSubstr("choose a topology with fewer, e.g. exponential"));
}

TEST(make_topology, makes_large_graphs_of_few_edges) {
  const auto ring = make_topology("ring", max_workers, 1);
  EXPECT_THAT(ring.neighbours(max_workers - 1), ElementsAre(0, max_workers - 2));
  EXPECT_EQ(ring.offset(max_workers), 2 * max_workers);
}

TEST(make_topology, draws_random_graphs_from_the_seed_alone) {
  for (const char* text : {"random-regular", "erdos-renyi"}) {
    EXPECT_EQ(make_topology(text, 20, 7), make_topology(text, 20, 7)) << text;
    EXPECT_NE(make_topology(text, 20, 7), make_topology(text, 20, 8)) << text;
  }
}

// Each of the 190 possible edges exists with probability p (almost all draws are connected).
TEST(make_topology, joins_random_pairs_with_the_probability_asked_for) {
  constexpr int draws = 200;
  double edges = 0;
  for (std::uint64_t seed = 0; seed < draws; ++seed)
    edges += static_cast<double>(make_topology("erdos-renyi:p=0.4", 20, seed).edges().size());
  EXPECT_NEAR(edges, draws * 190 * 0.4, 4.5 * std::sqrt(draws * 190 * 0.4 * 0.6));
}

// By symmetry, all pairs are joined equally often.
TEST(make_topology, favours_no_pair_in_random_regular_graphs) {
  constexpr int draws = 2000, nodes = 8;
  for (std::size_t degree : {3u, 5u}) { // drawn directly, and as a complement
    std::array<std::array<int, nodes>, nodes> count{};
    for (std::uint64_t seed = 0; seed < draws; ++seed)
      for (const auto& [i, j] : make_topology("random-regular:degree=" + std::to_string(degree), nodes, seed).edges())
        ++count[i][j];
    const double p = static_cast<double>(degree) / (nodes - 1);
    for (std::size_t i = 0; i < nodes; ++i)
      for (std::size_t j = i + 1; j < nodes; ++j)
        EXPECT_NEAR(count[i][j], draws * p, 4.5 * std::sqrt(draws * p * (1 - p))) << i << '-' << j;
  }
}

TEST(topology_file, is_one_edge_a_line_with_comments) {
  const edge_file file{"# a path\n0 1\n\n  2\t1 # backwards\r\n1 0\n2 3"};
  EXPECT_THAT(make_topology(file.spec(), 4, 1).edges(), ElementsAre(Pair(0, 1), Pair(1, 2), Pair(2, 3)));
}

TEST(topology_file, names_the_line_that_is_wrong) {
  const auto problem = [](std::string_view line) {
    const edge_file file{"0 1\n" + std::string{line} + "\n1 2\n"};
    const auto message = refusal(file.spec(), 3, errc::bad_data);
    EXPECT_THAT(message, HasSubstr(file.path() + ":2: "));
    return message;
  };
  EXPECT_THAT(problem("1"), HasSubstr("a line holds one edge"));
  EXPECT_THAT(problem("1 2 3"), HasSubstr("a line holds one edge"));
  EXPECT_THAT(problem("1 x"), HasSubstr("'x' is not the number of a worker; with 3 workers the numbers are 0 to 2"));
  EXPECT_THAT(problem("1 -2"), HasSubstr("'-2'"));
  EXPECT_THAT(problem("1 2.0"), HasSubstr("'2.0'"));
  EXPECT_THAT(problem("1 3"), HasSubstr("'3'"));
  EXPECT_THAT(problem("1 99999999999999999999"), HasSubstr("0 to 2"));
  EXPECT_THAT(problem("2 2"), HasSubstr("worker 2 is joined to itself"));
}

TEST(topology_file, connects_everybody_and_is_readable) {
  EXPECT_THAT(refusal(edge_file{"0 1\n2 3\n"}.spec(), 4), HasSubstr("worker 2 cannot reach worker 0; add an edge"));
  EXPECT_THAT(refusal(edge_file{""}.spec(), 2), HasSubstr("worker 1 cannot reach worker 0"));
  EXPECT_THAT(refusal("file:path=no_such_file", 4, errc::io), HasSubstr("'no_such_file': No such file"));
  EXPECT_THAT(refusal("file:path=" + testing::TempDir(), 4, errc::io), HasSubstr("Is a directory"));
  EXPECT_THAT(refusal("file", 4), HasSubstr("needs path"));
}

} // namespace
} // namespace gossamer::topology
