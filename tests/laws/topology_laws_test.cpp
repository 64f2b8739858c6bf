// The promises of every topology of the registry, at many sizes, and the published spectra (Lian et al. 2017 and 2018,
// Tang et al. 2018; values computed independently with numpy).
#include "gossamer/testing/topology_laws.hpp"

#include <cmath>
#include <cstdio>
#include <fstream>
#include <numbers>
#include <set>

namespace gossamer::topology {
namespace {

const std::string edge_path = testing::TempDir() + "gossamer_topology_laws.txt";

const std::string hosts_path = testing::TempDir() + "gossamer_topology_laws.toml";

struct wanted {
  std::string spec;
  std::vector<std::size_t> sizes;
};

/// Every entry of the registry with possible sizes. A new entry without a line here fails `is_covered_here`.
const std::vector<wanted> everything{
    {"complete", {1, 2, 3, 4, 31, 32, 33, 100}},
    {"star", {1, 2, 3, 4, 31, 32, 33, 1000}},
    {"auto", {1, 2, 3, 4, 31, 32}},
    {"ring", {1, 2, 3, 4, 31, 32, 33, 1000}},
    {"even-ring", {1, 2, 3, 4, 5, 6, 7, 31, 32, 33, 1000}},
    {"torus", {1, 2, 3, 4, 6, 31, 32, 33, 36, 1000}},
    {"torus:rows=1", {1, 2, 3, 33}},
    {"torus:rows=2", {1, 2, 4, 6, 32}},
    {"hypercube", {1, 2, 4, 32, 1024}},
    {"exponential", {1, 2, 3, 4, 5, 6, 7, 8, 9, 31, 32, 33, 1000}},
    {"random-regular:degree=2", {1, 3, 4, 31, 33}},
    {"random-regular:degree=3", {1, 4, 6, 32, 1000}},
    {"random-regular", {1, 5, 6, 7, 31, 32, 33, 1000}},
    {"random-regular:degree=30", {1, 31, 32, 33, 47, 100}},
    {"erdos-renyi", {1, 2, 3, 4, 5, 31, 32, 33, 100}},
    {"erdos-renyi:p=1", {1, 2, 33}},
    {"file:path=" + edge_path, {1, 2, 3, 31, 33}},
    {"measured:file=" + hosts_path, {1, 2, 3, 31, 32}},
    {"measured:degree=6,file=" + hosts_path, {1, 2, 3, 31, 32}},
};

/// Writes the edges for the topology `file`: a path with a chord.
void write_edges(std::size_t size) {
  std::ofstream out{edge_path};
  for (std::size_t i = 1; i < size; ++i)
    out << i << ' ' << i - 1 << '\n';
  if (size > 3)
    out << "0 " << size / 2 << '\n';
}

/// Writes the hosts for the topology `measured`: two, of which one may be left out.
void write_hosts(std::size_t size) {
  std::ofstream out{hosts_path};
  out << "[[host]]\nhost = 'a'\n";
  if (size > 1)
    out << "[[host]]\nhost = 'b'\n[[link]]\nfrom = 'a'\nto = 'b'\nlatency = 0.1\nbandwidth = 1e6\n"
           "[[link]]\nfrom = 'b'\nto = 'a'\nlatency = 0.2\nbandwidth = 1e7\n";
}

template <class Law>
void for_all(Law law) {
  for (const auto& [spec, sizes] : everything)
    for (auto size : sizes) {
      SCOPED_TRACE(spec + " with " + std::to_string(size) + " workers");
      write_edges(size);
      write_hosts(size);
      law(make_topology(spec, size, 5));
    }
  std::remove(edge_path.c_str());
  std::remove(hosts_path.c_str());
}

TEST(every_topology, is_covered_here) {
  std::set<std::string> covered;
  for (const auto& w : everything)
    covered.insert(spec::parse(w.spec).name);
  EXPECT_THAT(topologies().names(), testing::UnorderedElementsAreArray(covered));
}

TEST(every_topology, is_simple_symmetric_and_connected) { for_all(expect_simple_and_connected); }
TEST(every_topology, is_mixed_by_a_symmetric_doubly_stochastic_matrix) { for_all(expect_doubly_stochastic_mixing); }
TEST(every_topology, makes_workers_agree) { for_all(expect_agreement); }
TEST(every_topology, has_a_bipartite_part_that_connects_it) { for_all(expect_bipartite_part); }

TEST(bipartite_topologies, need_no_repair) {
  for (const char* text : {"ring", "even-ring", "exponential", "torus", "hypercube"})
    for (std::size_t size : {2u, 4u, 8u, 16u, 32u, 64u, 128u}) {
      const auto g = make_topology(text, size, 1);
      const auto classes = split(g);
      EXPECT_EQ(classes.active.size(), size / 2) << text << size;
      EXPECT_EQ(bipartite_part(g), g) << text << size;
      if (g == make_topology("ring", size, 1) || std::string_view{text} == "exponential") {
        EXPECT_TRUE(std::ranges::all_of(classes.active, [](rank i) { return i % 2 == 1; })) << text << size;
      }
    }
  for (std::size_t size : {3u, 5u, 31u, 33u})
    EXPECT_THROW(split(make_topology("ring", size, 1)), error) << size;
}

struct known_spectrum {
  const char* topology;
  std::size_t size;
  double rho, mu, alpha;
};

TEST(spectra, equal_the_reference_values) {
  for (const auto& [text, size, rho, mu, alpha] : std::initializer_list<known_spectrum>{
           {"ring", 3, 0, 1, .5},
           {"ring", 4, .3333, 1.3333, .25},
           {"ring", 5, .5393, 1.2060, .1910},
           {"ring", 8, .8047, 1.3333, .0732},
           {"ring", 16, .9493, 1.3333, .0190},
           {"ring", 32, .9872, 1.3333, .0048},
           {"complete", 2, 0, 1, .5},
           {"complete", 8, 0, 1, .5},
           {"complete", 16, 0, 1, .5},
           {"star", 8, .8750, 1, .0625},
           {"star", 16, .9375, 1, .0312},
           {"torus:rows=2", 8, .5, 1.5, .1667},
           {"torus", 9, .4, 1.2, .25},
           {"torus", 16, .6, 1.6, .125},
           {"torus:rows=4", 32, .8828, 1.6, .0366},
           {"hypercube", 8, .5, 1.5, .1667},
           {"hypercube", 16, .6, 1.6, .125},
           {"exponential", 8, .6, 1.6, .125},
           {"exponential", 16, .7778, 1.7778, .0625},
           {"exponential", 32, .8182, 1.8182, .05},
       }) {
    const auto s = spectrum_of(make_mixing("auto", make_topology(text, size, 1)));
    EXPECT_NEAR(s.rho, rho, 1e-4) << text << size;
    EXPECT_NEAR(s.gap, 1 - rho, 1e-4) << text << size;
    EXPECT_NEAR(s.mu, mu, 1e-4) << text << size;
    EXPECT_NEAR(s.dcd_alpha_limit(), alpha, 1e-4) << text << size;
  }
}

// The eigenvalues of the ring are (1 + 2 cos(2 pi k / n)) / 3.
TEST(spectra, equal_the_closed_form_of_the_ring) {
  for (std::size_t n = 3; n <= 64; ++n) {
    double rho = 0, mu = 0;
    for (std::size_t k = 1; k < n; ++k) {
      const double lambda =
          (1 + 2 * std::cos(2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n))) / 3;
      rho = std::max(rho, std::abs(lambda));
      mu = std::max(mu, std::abs(lambda - 1));
    }
    const auto s = spectrum_of(make_mixing("uniform", make_topology("ring", n, 1)));
    EXPECT_NEAR(s.rho, rho, 1e-6) << n;
    EXPECT_NEAR(s.mu, mu, 1e-6) << n;
  }
}

struct known_pairwise {
  const char* topology;
  std::size_t size;
  double rho;
};

TEST(pairwise_averaging, has_the_reference_rate) {
  for (const auto& [text, size, rho] : std::initializer_list<known_pairwise>{
           {"ring", 4, .75},
           {"exponential", 4, .75},
           {"ring", 8, .9634},
           {"exponential", 8, .8750},
           {"ring", 16, .9952},
           {"exponential", 16, .9375},
           {"ring", 32, .9994},
           {"exponential", 32, .9789},
           {"exponential", 64, .9906},
       }) {
    const auto g = make_topology(text, size, 1);
    EXPECT_NEAR(pairwise_rho(g, split(g)), rho, 1e-4) << text << size;
  }
}

TEST(diameters, equal_the_reference_values) {
  const std::size_t exponential[] = {2, 2, 3, 3, 4}, ring[] = {4, 8, 16, 32, 64};
  for (std::size_t k = 0; k < 5; ++k) {
    EXPECT_EQ(make_topology("exponential", 8u << k, 1).diameter(), exponential[k]);
    EXPECT_EQ(make_topology("ring", 8u << k, 1).diameter(), ring[k]);
  }
  EXPECT_EQ(make_topology("complete", 9, 1).diameter(), 1u);
  EXPECT_EQ(make_topology("star", 9, 1).diameter(), 2u);
  EXPECT_EQ(make_topology("hypercube", 32, 1).diameter(), 5u);
  EXPECT_EQ(make_topology("torus:rows=4", 32, 1).diameter(), 6u);
}

} // namespace
} // namespace gossamer::topology
