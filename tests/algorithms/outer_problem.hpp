#pragma once

#include "gossip_problem.hpp"

/// The runs of DiLoCo and its kin: their size, and what their tests use.
namespace gossamer::testing_support::outer_problem {

using testing_support::quadratics;
using testing_support::runs;
using testing_support::tiny_world;
using testing_support::world_with_master;

inline constexpr std::size_t size = 34, workers = 4;
inline constexpr std::uint64_t period = 5, rounds = 8, steps = period * rounds;
inline constexpr double gamma = 0.1;

/// Streaming DiLoCo with P = 2 and alpha = 0.25 in plain loops, of so many steps; returns the workers' models.
inline std::vector<std::vector<double>> streamed(const quadratics& p, std::uint64_t tau, std::uint64_t last = steps) {
  constexpr std::uint64_t H = 10, P = 2;
  std::vector<double> theta(size), u(size), frozen(size); // the mean of what all have frozen
  std::vector<std::vector<double>> x(workers, theta);
  const auto first = [](std::uint64_t f) { return f * size / P; };
  for (std::uint64_t t = 0; t < last; ++t) {
    for (std::size_t i = 0; i < workers; ++i) {
      const auto g = p.gradient(i, t, std::vector<float>(x[i].begin(), x[i].end()));
      for (std::size_t k = 0; k < size; ++k)
        x[i][k] -= gamma * static_cast<double>(g[k]);
    }
    for (std::uint64_t f = 0; f < P; ++f) {
      if ((t + 1) % H == f * H / P)
        for (auto k = first(f); k < first(f + 1); ++k) {
          frozen[k] = 0;
          for (const auto& one : x)
            frozen[k] += (theta[k] - one[k]) / workers;
        }
      if (t >= tau && (t - tau + 1) % H == f * H / P)
        for (auto k = first(f); k < first(f + 1); ++k) {
          u[k] = 0.9 * u[k] + frozen[k];
          theta[k] -= 0.7 * (frozen[k] + 0.9 * u[k]);
          for (auto& one : x)
            one[k] = 0.25 * one[k] + 0.75 * theta[k];
        }
    }
  }
  return x;
}

/// Gradients that do not depend on x: worker i always moves the same way.
inline tiny_world::gradient_of constant_gradients(quadratics& p) {
  return [&p, g = p.gradients()](actors::rank i, std::uint64_t, const vec&) { return g(i, 0, p.start()); };
}

/// A world with a master and workers that all do `steps` steps, but for the last worker: it is told to leave while it
/// computes its gradient of this number, and is gone once the master has answered its last question.
class world_with_leaver {
public:
  static constexpr auto leaver = static_cast<actors::rank>(workers - 1);

  struct options {
    std::string algorithm;
    std::uint64_t after = 0;         ///< number of the leaver's gradients
    std::uint32_t last_question = 0; ///< in the part of its label
    std::uint64_t timing = 0;
    std::function<void(const actors::frame&)> hears = {}; ///< gets all frames to the master
    std::function<void()> departs = {};                   ///< called when the leaver is gone
  };

  world_with_leaver(const options& o, quadratics& p)
      : given_(o),
        world_(world_with_master(o.algorithm, p,
                                 {.workers = workers,
                                  .equal_steps = true,
                                  .steps = steps,
                                  .timing = o.timing,
                                  .on_delivery = [this](actors::rank to, const actors::frame& f) { delivers(to, f); }},
                                 [this, g = constant_gradients(p)](actors::rank i, std::uint64_t t, const vec& x) {
                                   if (i == leaver && ++gradients_ == given_.after)
                                     world_.worker(i).proceed(steps, 0, {0, {{leaver, 0}}});
                                   return g(i, t, x);
                                 })) {}

  /// Runs until nothing happens any more. Of a worker that is gone, nothing does.
  void run() { world_.run(); }
  bool is_gone() const noexcept { return is_gone_; }
  const vec& model(actors::rank i) const { return world_.model(i); }

private:
  void delivers(actors::rank to, const actors::frame& f) {
    if (answered_ && !std::exchange(is_gone_, true))
      depart();
    if (to == workers) {
      if (f.source == leaver && (f.label.part & given_.last_question) == given_.last_question)
        last_question_ = f.label.step;
      given_.hears(f);
    }
    answered_ |= to == leaver && f.label.kind == actors::frame_kind::reply && f.label.step == last_question_;
  }
  void depart() {
    auto without = std::make_shared<actors::view>(world_.worker(0).present());
    ++without->number;
    std::erase(without->members, leaver);
    without->incarnations[leaver].reset();
    for (actors::rank i = 0; i <= workers; ++i)
      if (i != leaver)
        world_.worker(i).adopt(without);
    if (given_.departs)
      given_.departs();
  }

  options given_;
  std::uint64_t gradients_ = 0;
  std::optional<std::uint64_t> last_question_;
  bool answered_ = false, is_gone_ = false;
  tiny_world world_; // last: it calls the rest
};

} // namespace gossamer::testing_support::outer_problem
