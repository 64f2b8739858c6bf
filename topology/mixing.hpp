#pragma once

#include "gossamer/topology/graph.hpp"

#include <span>
#include <string_view>
#include <vector>

namespace gossamer::topology {

/// Weights W with which workers average: symmetric, non-negative, every row and so every column sums to 1, and 0 where
/// two different workers are not neighbours. Hence x <- W x keeps the mean of all workers.
///
/// Rows are stored along the neighbours: 12 bytes a node and 16 an edge, with the graph. W is symmetric to the bit; a
/// row sums to 1 up to one rounding of each weight. Immutable; threads: safe.
class mixing_matrix {
public:
  /// @param weights weights of the neighbours of all nodes, one node behind the other, in the order of `neighbours(i)`;
  ///        a node keeps the rest for itself
  /// @error errc::usage unless the weights fit the graph, are not negative, symmetric, and sum to at most 1 a row
  mixing_matrix(graph g, std::vector<float> weights);

  /// W_ij = 1 / (k + 1) for a node of degree k and its neighbours (Lian et al. 2017; the ring has
  /// 1/3).
  /// @error errc::usage unless the graph is regular
  static mixing_matrix uniform(const graph& g);

  /// W_ij = 1 / (1 + max(degree i, degree j)), for every graph; equals `uniform` where that exists.
  /// A node without neighbours keeps W_ii = 1. (Xiao, Boyd, Kim, "Distributed average consensus
  /// with least-mean-square deviation", 2007.)
  static mixing_matrix metropolis(const graph& g);

  /// (I + W) / 2: moves all eigenvalues into [0, 1], at the price of half the gap. For matrices with an eigenvalue near
  /// -1.
  mixing_matrix lazy() const;
  /// Applies the rule of this matrix, `metropolis` or its lazy form, to another graph.
  mixing_matrix along(const graph& g) const;

  std::size_t size() const noexcept { return graph_.size(); }
  const graph& support() const noexcept { return graph_; }
  std::span<const rank> neighbours(rank i) const { return graph_.neighbours(i); }
  /// In the order of `neighbours(i)`.
  std::span<const float> weights(rank i) const {
    return std::span{weights_}.subspan(graph_.offset(i), graph_.degree(i));
  }
  float self_weight(rank i) const { return self_[i]; }
  /// Any entry; O(log degree).
  float weight(rank i, rank j) const;

private:
  graph graph_;
  std::vector<float> weights_;
  std::vector<float> self_;
  bool lazy_ = false;
};

/// Returns the matrix that a user names: "uniform", "metropolis", or "auto", which is uniform on regular graphs and
/// Metropolis elsewhere (that is, always Metropolis, for the two coincide on regular graphs); or "lazy", the lazy form
/// of "auto".
/// @error errc::usage for an unknown name, or uniform on a graph that is not regular
[[nodiscard]] mixing_matrix make_mixing(std::string_view rule, const graph& g);

} // namespace gossamer::topology
