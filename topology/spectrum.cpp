#include "gossamer/topology/spectrum.hpp"

#include <Eigen/Eigenvalues>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace gossamer::topology {
namespace {

Eigen::VectorXd ascending_eigenvalues(const Eigen::MatrixXd& m) {
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(m, Eigen::EigenvaluesOnly);
  GOSSAMER_ASSERT(solver.info() == Eigen::Success, "the eigenvalues of a finite symmetric matrix can be found");
  return solver.eigenvalues();
}

} // namespace

spectrum spectrum_of(const mixing_matrix& w) {
  std::vector<rank> everybody(w.size());
  std::iota(everybody.begin(), everybody.end(), rank{0});
  return spectrum_of(w, everybody);
}

spectrum spectrum_of(const mixing_matrix& w, std::span<const rank> members) {
  const auto n = static_cast<Eigen::Index>(members.size());
  if (n < 2)
    return {};
  Eigen::MatrixXd m(n, n);
  for (Eigen::Index i = 0; i < n; ++i)
    for (Eigen::Index j = 0; j < n; ++j)
      m(i, j) = w.weight(members[static_cast<std::size_t>(i)], members[static_cast<std::size_t>(j)]);
  const auto lambda = ascending_eigenvalues(m);
  const double least = lambda[0], second = lambda[n - 2];
  const double rho = std::max(std::abs(second), std::abs(least));
  return {rho, std::max(std::abs(second - 1), std::abs(least - 1)), 1 - rho};
}

double pairwise_rho(const graph& g, const bipartition& roles) {
  const auto n = static_cast<Eigen::Index>(g.size());
  if (n < 2 || roles.active.empty())
    return 0;
  Eigen::MatrixXd m = Eigen::MatrixXd::Identity(n, n);
  for (rank i : roles.active)
    for (rank j : g.neighbours(i)) {
      const double half = 0.5 / static_cast<double>(g.degree(i) * roles.active.size());
      m(i, i) -= half;
      m(j, j) -= half;
      m(i, j) += half;
      m(j, i) += half;
    }
  return ascending_eigenvalues(m)[n - 2];
}

} // namespace gossamer::topology
