#pragma once

#include "gossamer/actors/algorithms/variance_reduction.hpp"
#include "gossamer/testing/tiny_world.hpp"

#include <cmath>
#include <numeric>

namespace gossamer::testing_support {

/// Logistic regression without bias, P(x) = mean log(1 + exp(-y a.x)) + l2/2 |x|^2 + l1 |x|_1, in plain loops.
class logistic_problem {
public:
  static constexpr double l2 = 1e-2, l1 = 1e-4;
  using point = std::vector<double>;

  logistic_problem(std::size_t samples, std::size_t dimension) : rows_(samples, point(dimension)), labels_(samples) {
    random_sequence draw{{3, 0, purpose::synthetic}, 0};
    point truth(dimension);
    for (auto& t : truth)
      t = draw.normal();
    for (std::size_t i = 0; i < samples; ++i) {
      for (auto& a : rows_[i])
        a = draw.normal() / std::sqrt(static_cast<double>(dimension)) * 3;
      labels_[i] = draw.uniform_double() < 1 / (1 + std::exp(-2 * product(rows_[i], truth))) ? 1 : -1;
    }
  }

  std::size_t samples() const { return rows_.size(); }
  std::size_t dimension() const { return rows_[0].size(); }
  vec start() { return vec{pool_, dimension()}; }

  /// Returns the mean gradient over these samples.
  template <class Samples>
  point gradient(const point& x, const Samples& samples) const {
    point g(dimension());
    for (const auto i : samples) {
      const double slope = -labels_[i] / (1 + std::exp(labels_[i] * product(rows_[i], x)));
      for (std::size_t k = 0; k < g.size(); ++k)
        g[k] += slope * rows_[i][k];
    }
    for (std::size_t k = 0; k < g.size(); ++k)
      g[k] = g[k] / static_cast<double>(std::size(samples)) + l2 * x[k];
    return g;
  }
  double objective(const point& x) const {
    double sum = 0;
    for (std::size_t i = 0; i < samples(); ++i)
      sum += std::log1p(std::exp(-labels_[i] * product(rows_[i], x)));
    sum /= static_cast<double>(samples());
    for (const double v : x)
      sum += l2 / 2 * v * v + l1 * std::abs(v);
    return sum;
  }
  /// Returns the minimum of the objective, found by accelerated proximal gradient descent.
  double least_objective() const {
    std::vector<std::size_t> all(samples());
    std::iota(all.begin(), all.end(), 0u);
    point x(dimension()), y = x;
    for (int k = 0; k < 600; ++k) {
      const auto g = gradient(y, all);
      const auto before = x;
      for (std::size_t i = 0; i < x.size(); ++i) {
        x[i] = shrink(y[i] - 0.8 * g[i], 0.8 * l1);
        y[i] = x[i] + 0.75 * (x[i] - before[i]);
      }
    }
    return objective(x);
  }

  std::vector<std::size_t> part(std::size_t k, std::size_t parts) const {
    std::vector<std::size_t> result;
    for (auto i = k * samples() / parts; i < (k + 1) * samples() / parts; ++i)
      result.push_back(i);
    return result;
  }
  /// Draws a minibatch from all samples.
  std::vector<std::size_t> batch(actors::rank worker, std::uint64_t step, std::size_t size) const {
    random_sequence draw{{5, worker, purpose::draw}, step};
    std::vector<std::size_t> result(size);
    for (auto& i : result)
      i = draw.below(static_cast<std::uint32_t>(samples()));
    return result;
  }

  /// Returns the answers of compute actors.
  tiny_world::answer_of answers(std::size_t batch_size, std::size_t workers) {
    return [this, batch_size, workers](actors::rank i, const actors::gradient_job& job) {
      if (job.what == actors::gradient_job::kind::full_part) {
        const auto samples = part(job.part, workers);
        auto sum = gradient(as_point(job.x), samples);
        for (auto& v : sum)
          v *= static_cast<double>(samples.size());
        return as_vec(sum);
      }
      const auto a = batch(i, job.step, batch_size);
      return as_vec(gradient(as_point(job.x), a)) - as_vec(gradient(as_point(job.anchor), a));
    };
  }

  static point as_point(const vec& v) { return {v.view().begin(), v.view().end()}; }
  vec as_vec(const point& p) {
    const std::vector<float> values(p.begin(), p.end());
    return vec{pool_, values};
  }
  static double shrink(double v, double by) { return v > by ? v - by : v < -by ? v + by : 0; }

  /// Provides the proximal step of workers.
  struct proximal_model final : compute::model {
    std::size_t dimension() const override { return 0; }
    void initial_point(std::span<float>, const random_stream&) const override {}
    double loss_and_gradient(std::span<const float>, const compute::batch&, std::span<float>) override { return 0; }
    compute::evaluation evaluate(std::span<const float>, const compute::batch&) override { return {}; }
    void proximal_step(vec& x, float step) const override {
      for (auto& v : x.mutate())
        v = static_cast<float>(shrink(static_cast<double>(v), static_cast<double>(step) * l1));
    }
    std::unique_ptr<compute::model> clone() const override { return std::make_unique<proximal_model>(); }
  };

private:
  static double product(const point& a, const point& b) {
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
  }

  buffer_pool pool_;
  std::vector<point> rows_;
  std::vector<double> labels_;
};

/// Makes the algorithm of a participant from a spec such as "asy-lpg:model-bits=0". Masters are behind `workers`
/// workers.
inline tiny_world::make_algorithm runs_with_master(const std::string& text, std::size_t workers, const vec& start) {
  return [text, workers, start](actors::rank i) {
    const auto& entry = actors::algorithms().find(spec::parse(text).name);
    const arguments given{"algorithm", entry.about, spec::parse(text)};
    const actors::algorithm_setup setup{.given = given, .initial = start};
    return i < workers ? entry.make(setup) : entry.make_master(setup);
  };
}

/// A run of the SVRG family in the tiny world, with hooks for every message.
class svrg_run {
public:
  using label = actors::svrg_label;
  using kind = actors::svrg_kind;

  logistic_problem problem;
  std::string algorithm;
  std::size_t workers = 4, batch = 20;
  std::uint64_t epochs = 3, seed = 1;
  double lr = 0.3;
  std::function<void(actors::rank, const actors::frame&)> on_send = {}, on_delivery = {};

  std::unique_ptr<tiny_world> world = {};
  std::vector<vec> snapshots = {}; ///< distinct snapshots, in the order of their first sending

  std::uint64_t epoch_length() const {
    return static_cast<std::uint64_t>(std::ceil(static_cast<double>(problem.samples()) / static_cast<double>(batch)));
  }
  actors::rank master() const { return static_cast<actors::rank>(workers); }

  void go() {
    tiny_world::options o;
    o.topology = "complete";
    o.workers = workers;
    o.masters = 1;
    o.synchronous = false;
    o.steps = (epochs * epoch_length() + workers - 1) / workers;
    o.lr = lr;
    o.seed = seed;
    o.samples = problem.samples();
    o.updates_per_epoch = static_cast<double>(problem.samples()) / static_cast<double>(batch);
    o.model = std::make_shared<logistic_problem::proximal_model>();
    o.on_send = [this](actors::rank to, const actors::frame& f) {
      const auto k = label::of(f.label.part).kind;
      if (to < workers && (k == kind::snapshot || k == kind::snapshot_part))
        if (const auto xt = compress::decode(f.body); snapshots.empty() || !(snapshots.back() == xt))
          snapshots.push_back(xt);
      if (on_send)
        on_send(to, f);
    };
    o.on_delivery = on_delivery;
    world = std::make_unique<tiny_world>(o, runs_with_master(algorithm, workers, problem.start()),
                                         problem.answers(batch, workers));
    ASSERT_TRUE(world->run());
  }
};

} // namespace gossamer::testing_support
