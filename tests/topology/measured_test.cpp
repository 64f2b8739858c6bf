// The topology of measured links: short tours, chords along fast links.
#include "gossamer/base/error.hpp"
#include "gossamer/base/philox.hpp"
#include "gossamer/topology/bipartition.hpp"
#include "gossamer/topology/hosts_file.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <numeric>

#include "support/scratch_folder.hpp"

namespace gossamer::topology {
namespace {

using testing::HasSubstr;
using seconds_between = std::function<double(rank, rank)>;

class measured_topology : public testing::Test {
protected:
  /// Writes a file of hosts, and returns the spec of its topology.
  std::string spec_of(std::size_t hosts, const seconds_between& latency, std::size_t slots = 1) const {
    const auto path = folder_.path() + "/hosts.toml";
    std::ofstream out{path};
    for (std::size_t h = 0; h < hosts; ++h)
      out << "[[host]]\nhost = 'h" << h << "'\nslots = " << slots << '\n';
    for (rank i = 0; i < hosts; ++i)
      for (rank j = 0; j < hosts; ++j)
        if (i != j)
          out << "[[link]]\nfrom = 'h" << i << "'\nto = 'h" << j << "'\nlatency = " << latency(i, j)
              << "\nbandwidth = 1e9\n";
    return "measured:file=" + path + ",bytes=0";
  }

private:
  test::scratch_folder folder_;
};

double length(const graph& tour, const seconds_between& latency) {
  double sum = 0;
  for (const auto& [i, j] : tour.edges())
    sum += latency(i, j);
  return sum;
}

double shortest_tour(std::size_t size, const seconds_between& latency) {
  std::vector<rank> order(size);
  std::iota(order.begin(), order.end(), rank{0});
  double best = INFINITY;
  do {
    double sum = 0;
    for (std::size_t k = 0; k < size; ++k)
      sum += latency(order[k], order[(k + 1) % size]);
    best = std::min(best, sum);
  } while (std::next_permutation(order.begin() + 1, order.end()));
  return best;
}

TEST_F(measured_topology, has_a_tour_that_is_hardly_longer_than_the_shortest) {
  double found = 0, shortest = 0;
  for (std::uint64_t instance = 0; instance < 20; ++instance) {
    random_sequence draw{random_stream{5, 0, purpose::topology}, instance};
    std::vector<std::pair<double, double>> places(8);
    for (auto& [x, y] : places)
      x = draw.uniform_double(), y = draw.uniform_double();
    const auto latency = [&](rank i, rank j) {
      return std::hypot(places[i].first - places[j].first, places[i].second - places[j].second);
    };
    const auto tour = make_topology(spec_of(8, latency) + ",degree=2", 8, 1);
    EXPECT_TRUE(tour.regular() && tour.degree(0) == 2 && tour.connected());
    found += length(tour, latency);
    shortest += shortest_tour(8, latency);
    EXPECT_LT(length(tour, latency), 1.25 * shortest_tour(8, latency));
  }
  EXPECT_LT(found, 1.05 * shortest);
}

double across(rank i, rank j) { return i % 2 == j % 2 ? 0.001 : 0.1; } // two sites, whose hosts take turns

TEST_F(measured_topology, crosses_between_two_sites_twice) {
  const auto tour = make_topology(spec_of(12, across) + ",degree=2", 12, 1);
  EXPECT_EQ(std::ranges::count_if(tour.edges(), [](const auto& e) { return across(e.first, e.second) > 0.01; }), 2);
}

TEST_F(measured_topology, has_chords_without_odd_cycles_that_are_faster_than_most_pairs) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const auto g = make_topology(spec_of(24, across) + ",degree=4", 24, seed);
    EXPECT_NO_THROW(split(g));
    double sum = 0;
    for (rank i = 0; i < 24; ++i) {
      EXPECT_GE(g.degree(i), 2u);
      EXPECT_LE(g.degree(i), 4u);
    }
    for (const auto& [i, j] : g.edges())
      sum += across(i, j);
    const double of_all_pairs = (0.001 * 11 + 0.1 * 12) / 23;
    EXPECT_LT(sum / static_cast<double>(g.edges().size()), 0.35 * of_all_pairs) << seed;
    EXPECT_GE(g.edges().size(), 24u + 18) << "chords that are edges of the tour join nobody";
  }
  EXPECT_NE(make_topology(spec_of(24, across), 24, 1), make_topology(spec_of(24, across), 24, 2));
  EXPECT_EQ(make_topology(spec_of(24, across), 24, 1), make_topology(spec_of(24, across), 24, 1));
}

TEST_F(measured_topology, counts_the_slower_direction) {
  const auto latency = [](rank i, rank j) { return i == 0 && j == 1 ? 1.0 : 0.01; };
  const auto tour = make_topology(spec_of(5, latency) + ",degree=2", 5, 1);
  EXPECT_FALSE(tour.adjacent(0, 1));
}

TEST_F(measured_topology, joins_the_workers_of_a_host) {
  const auto tour = make_topology(spec_of(
                                      3, [](rank, rank) { return 0.1; }, 2)
                                      + ",degree=2",
                                  12, 1);
  const auto within = [](const auto& e) { return e.first / 4 == e.second / 4; };
  EXPECT_EQ(std::ranges::count_if(tour.edges(), within), 9); // 3 on each host, and 3 edges between hosts
}

TEST_F(measured_topology, refuses_fewer_workers_than_processes_and_files_that_are_not_there) {
  const auto refused = [](const std::string& text, std::size_t size, errc code) -> std::string {
    try {
      std::ignore = make_topology(text, size, 1);
    } catch (const error& e) {
      EXPECT_EQ(e.code(), code);
      return e.what();
    }
    return "no error";
  };
  EXPECT_THAT(refused(spec_of(4, across), 3, errc::usage), HasSubstr("4 processes of hosts cannot share 3 workers"));
  EXPECT_THAT(refused("measured:file=/nowhere/hosts.toml", 3, errc::io), HasSubstr("/nowhere/hosts.toml"));
}

} // namespace
} // namespace gossamer::topology
