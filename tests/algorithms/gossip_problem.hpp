#pragma once

#include "gossamer/testing/tiny_world.hpp"

#include <cmath>

#include "dense_gossip.hpp"

namespace gossamer::testing_support {

/// Worker i minimises (1/2) sum_k h_k (x_k - c_ik)^2, from noisy gradients. The h_k lie between 0.3 and 1.
class quadratics {
public:
  quadratics(std::size_t workers, std::size_t size, float noise = 0) : size_(size), noise_(noise) {
    for (std::size_t i = 0; i < workers; ++i)
      centres_.push_back(normal(static_cast<std::uint32_t>(i), purpose::synthetic, 0));
  }

  std::vector<float> gradient(std::size_t i, std::uint64_t t, std::span<const float> x) const {
    std::vector<float> g(size_), z(size_);
    if (noise_ != 0)
      z = normal(static_cast<std::uint32_t>(i), purpose::data, t);
    for (std::size_t k = 0; k < size_; ++k)
      g[k] = curvature(k) * (x[k] - centres_[i][k]) + noise_ * z[k];
    return g;
  }
  tiny_world::gradient_of gradients() {
    return [this](actors::rank i, std::uint64_t t, const vec& x) { return vec{pool_, gradient(i, t, x.view())}; };
  }
  vec start() { return vec{pool_, size_}; }

  /// Returns the mean of the workers' losses at `x`, less its minimum.
  double gap(const std::vector<double>& x) const {
    double sum = 0;
    for (std::size_t k = 0; k < size_; ++k) {
      double minimum = 0;
      for (const auto& c : centres_)
        minimum += static_cast<double>(c[k]) / static_cast<double>(centres_.size());
      sum += 0.5 * static_cast<double>(curvature(k)) * std::pow(x[k] - minimum, 2);
    }
    return sum;
  }

private:
  float curvature(std::size_t k) const {
    return 0.3f + 0.7f * static_cast<float>(k) / static_cast<float>(std::max<std::size_t>(size_ - 1, 1));
  }
  std::vector<float> normal(std::uint32_t i, purpose use, std::uint64_t t) const {
    std::vector<float> values(size_);
    random_sequence draw{{9, i, use}, t};
    for (auto& v : values)
      v = static_cast<float>(draw.normal());
    return values;
  }

  buffer_pool pool_;
  std::size_t size_;
  float noise_;
  std::vector<std::vector<float>> centres_;
};

/// Makes the algorithm of every worker from a spec such as "ecd-psgd:refresh=10".
inline tiny_world::make_algorithm runs(const std::string& spec_text, const vec& start) {
  return [=](actors::rank) {
    const auto& entry = actors::algorithms().find(spec::parse(spec_text).name);
    const arguments given{"algorithm", entry.about, spec::parse(spec_text)};
    return entry.make({.given = given, .initial = start});
  };
}

/// Makes a world of an asynchronous algorithm with one master, whose rank follows those of the workers.
/// @param gradient null: those of the quadratics
inline tiny_world world_with_master(const std::string& spec_text, quadratics& p, tiny_world::options o,
                                    tiny_world::gradient_of gradient = nullptr) {
  const auto& entry = actors::algorithms().find(spec::parse(spec_text).name);
  const auto given = std::make_shared<arguments>("algorithm", entry.about, spec::parse(spec_text));
  o.masters = 1;
  o.synchronous = false;
  return {o,
          [&entry, given, workers = o.workers, start = p.start()](actors::rank i) {
            const actors::algorithm_setup setup{.given = *given, .initial = start};
            return i < workers ? entry.make(setup) : entry.make_master(setup);
          },
          gradient ? std::move(gradient) : p.gradients()};
}

/// Returns the gap of the mean of all models to the minimum, averaged over the ends of some runs. Infinite when a run
/// diverged.
inline double final_gap(const std::string& algorithm, tiny_world::options o, float noise, std::size_t size = 60) {
  constexpr std::uint64_t runs_averaged = 3;
  double sum = 0;
  for (std::uint64_t seed = 1; seed <= runs_averaged; ++seed) {
    quadratics problem{o.workers, size, noise};
    o.seed = seed;
    tiny_world world{o, runs(algorithm, problem.start()), problem.gradients()};
    try {
      EXPECT_TRUE(world.run());
    } catch (const error&) {
      return std::numeric_limits<double>::infinity();
    }
    auto mean = world.sum_of_models();
    for (auto& m : mean)
      m /= static_cast<double>(o.workers);
    sum += problem.gap(mean) / runs_averaged;
  }
  return std::isfinite(sum) ? sum : std::numeric_limits<double>::infinity();
}

} // namespace gossamer::testing_support
