#pragma once

#include <gtest/gtest.h>

#include <numeric>

#include "gossip_problem.hpp"

namespace gossamer::testing_support {

using numbers = std::vector<double>;

inline numbers mean_of(const std::vector<numbers>& all) {
  numbers result(all.front().size());
  for (const auto& one : all)
    for (std::size_t k = 0; k < result.size(); ++k)
      result[k] += one[k] / static_cast<double>(all.size());
  return result;
}

/// Means of signs and mean magnitudes, with error feedback at workers and at the owners of segments, as plain loops.
/// Elements that do not move are left out: of those that do each worker owns a segment.
class dense_sign_mean {
public:
  dense_sign_mean(std::size_t workers, std::size_t size) : e_(workers, numbers(size)), f_(size), moving_(size) {
    std::iota(moving_.begin(), moving_.end(), std::size_t{0});
  }

  /// Where the elements that move change, so do segments: what an owner lacks goes to its error as a worker.
  void move_only(const std::vector<std::size_t>& which) {
    if (which == moving_)
      return;
    for (std::size_t j = 0; j < e_.size(); ++j)
      for (auto p = edge(j); p < edge(j + 1); ++p)
        e_[j][moving_[p]] += static_cast<double>(e_.size()) * f_[moving_[p]];
    f_.assign(f_.size(), 0);
    moving_ = which;
  }
  void forget() {
    for (auto& e : e_)
      e.assign(e.size(), 0);
    f_.assign(f_.size(), 0);
  }
  /// Returns 0 for elements that do not move.
  numbers operator()(const std::vector<numbers>& of) {
    std::vector<numbers> sent;
    for (std::size_t i = 0; i < of.size(); ++i) {
      numbers b(f_.size());
      for (const auto k : moving_)
        b[k] = of[i][k] + e_[i][k];
      e_[i] = lost(b);
      for (const auto k : moving_)
        b[k] -= e_[i][k];
      sent.push_back(b);
    }
    auto mean = mean_of(sent);
    for (const auto k : moving_)
      mean[k] += f_[k];
    f_ = lost(mean);
    for (const auto k : moving_)
      mean[k] -= f_[k];
    return mean;
  }

private:
  std::size_t edge(std::size_t j) const { return j * moving_.size() / e_.size(); }

  /// b, less what its signs and mean magnitude say of each segment.
  numbers lost(const numbers& b) const {
    numbers rest = b;
    for (std::size_t j = 0; j < e_.size(); ++j) {
      double scale = 0;
      for (auto p = edge(j); p < edge(j + 1); ++p)
        scale += std::abs(b[moving_[p]]) / static_cast<double>(edge(j + 1) - edge(j));
      for (auto p = edge(j); p < edge(j + 1); ++p)
        rest[moving_[p]] -= b[moving_[p]] < 0 ? -scale : scale;
    }
    return rest;
  }

  std::vector<numbers> e_;
  numbers f_;
  std::vector<std::size_t> moving_;
};

/// Expects that Adam with means of signs and a warm-up of 12 steps learns with one worker, which sends nothing.
inline void expect_to_learn_alone(const std::string& algorithm) {
  quadratics p{1, 41};
  tiny_world world{
      {.codec = "scaled-sign", .workers = 1, .steps = 200, .lr = 0.01}, runs(algorithm, p.start()), p.gradients()};
  ASSERT_TRUE(world.run());
  EXPECT_EQ(world.sent(0).payload_bits, 0u);
  const auto x = world.model(0).view();
  EXPECT_LT(p.gap({x.begin(), x.end()}), 0.05 * p.gap(std::vector<double>(41)));
}

} // namespace gossamer::testing_support
