#pragma once

#include "gossip_problem.hpp"

namespace gossamer::testing_support {

/// Calls `use(a)` with a reader of the fields of worker i's algorithm.
inline void read_fields(tiny_world& world, actors::rank i, auto use) {
  const auto bytes = world.worker(i).state();
  archive_reader fields{bytes, buffer_pool{}};
  use(fields);
}

/// Hands out gradients and records sum_t (1/n) sum_i lr u_i(g_i,t): the move of uncompressed SGD on the same gradients,
/// with an optimiser u_i for each worker.
class recorded {
public:
  recorded(quadratics& problem, std::size_t size, std::size_t workers, double lr, const std::string& optimiser = "sgd")
      : gradients_(problem.gradients()), share_(lr / static_cast<double>(workers)), moved_(size) {
    for (std::size_t i = 0; i < workers; ++i)
      optimisers_.push_back(compute::make_optimiser(optimiser));
  }

  tiny_world::gradient_of gradients() {
    return [this](actors::rank i, std::uint64_t t, const vec& x) {
      auto g = gradients_(i, t, x);
      const vec u = optimisers_[i]->direction(x, g);
      for (std::size_t k = 0; k < moved_.size(); ++k)
        moved_[k] += share_ * static_cast<double>(u[k]);
      return g;
    };
  }
  double moved(std::size_t k) const { return moved_[k]; }

private:
  tiny_world::gradient_of gradients_;
  std::vector<std::unique_ptr<compute::optimiser>> optimisers_;
  double share_;
  std::vector<double> moved_;
};

/// Asserts that x_t - (1/n) sum_i r_i,t = x_0 - (the move of SGD), where r_i is the second field of each worker.
inline void expect_telescoping(tiny_world& world, const recorded& sgd, std::size_t workers, std::size_t size,
                               const std::string& where) {
  std::vector<double> kept(size);
  for (actors::rank i = 0; i < workers; ++i)
    read_fields(world, i, [&](archive& a) {
      vec x, residual;
      a(x)(residual);
      for (std::size_t k = 0; k < size; ++k)
        kept[k] += static_cast<double>(residual[k]) / static_cast<double>(workers);
    });
  for (std::size_t k = 0; k < size; ++k)
    ASSERT_NEAR(static_cast<double>(world.model(0)[k]) - kept[k], -sgd.moved(k), 1e-5 * (1 + std::abs(sgd.moved(k))))
        << where << ", element " << k;
}

} // namespace gossamer::testing_support
