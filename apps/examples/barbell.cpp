// A topology of one's own: two rings that one link joins. Prints how fast averaging spreads over it, and writes the
// file that `--topology file:path=barbell.txt` reads.
//   barbell 8 barbell.txt
#include "gossamer/base/error.hpp"
#include "gossamer/topology/spectrum.hpp"

#include <cstdio>
#include <cstdlib>
#include <fstream>

using namespace gossamer::topology;

int main(int argc, char** argv) try {
  const auto size = static_cast<rank>(argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 8);
  const rank half = size / 2;
  std::vector<graph::edge> edges{{0, half}};
  for (rank i = 0; i < half; ++i)
    edges.emplace_back(i, (i + 1) % half);
  for (rank i = half; i < size; ++i)
    edges.emplace_back(i, i + 1 < size ? i + 1 : half);

  const graph barbell{size, edges};
  const auto spread = spectrum_of(mixing_matrix::metropolis(barbell));
  const auto ring = spectrum_of(mixing_matrix::metropolis(make_topology("ring", size, 1)));
  std::printf("differences shrink by %.4f in a step, on a ring by %.4f\n", spread.rho, ring.rho);

  std::ofstream file{argc > 2 ? argv[2] : "barbell.txt"};
  for (const auto& [i, j] : barbell.edges())
    file << i << ' ' << j << '\n';
  return file.flush() ? 0 : 1;
} catch (const gossamer::error& e) {
  std::fprintf(stderr, "barbell: %s\n", e.what());
  return 2;
}
