#pragma once

// The promises of every algorithm under any interleaving of its messages, as tests for googletest. A program with
// algorithms of its own includes this header in one source, and instantiates the suite:
//
//     INSTANTIATE_TEST_SUITE_P(own, algorithm_law, testing::ValuesIn(algorithm_cases(own_algorithms)), law_name);
//
// Faults, deaths and the checkpoints meanwhile are tried by that program's
// `simulate --seeds 1..200 --chaos 1 --checkpoint 5`.
#include "gossamer/actors/run/tables.hpp"
#include "gossamer/testing/effort.hpp"
#include "gossamer/testing/spellings.hpp"
#include "gossamer/testing/tiny_world.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <iterator>
#include <map>
#include <numeric>
#include <ostream>
#include <set>
#include <span>

namespace gossamer::actors {

using testing_support::tiny_world;

/// What the laws are tried on: an algorithm, a spec that names it, and the codecs that both may name.
struct algorithm_case {
  std::string spec;
  algorithm_entry entry;
  registry<compress::codec_entry> codecs = compress::codecs();
};

inline void PrintTo(const algorithm_case& c, std::ostream* out) { *out << c.spec; }

/// Returns cases for algorithms: by their defaults, and with every choice that their parameters offer.
/// @param codecs the built-in ones, and those of the program
/// @param further specs with other values, such as those of parameters without a default
/// @error errc::usage if there is no spec for one of the algorithms, a further one names none of them, or an entry is
///        not complete
inline std::vector<algorithm_case> algorithm_cases(std::span<const algorithm_entry> entries,
                                                   const registry<compress::codec_entry>& codecs = compress::codecs(),
                                                   const std::set<std::string>& further = {}) {
  check_entries({.algorithms = {"algorithm", entries}, .codecs = codecs});
  std::vector<algorithm_case> result;
  for (const auto& entry : entries)
    for (const auto& spec : testing_support::spellings_of(entry))
      result.push_back({spec, entry, codecs});
  for (const auto& spec : further)
    result.push_back({spec, registry<algorithm_entry>{"algorithm", entries}.resolve(spec).first, codecs});
  for (const auto& entry : entries)
    if (std::ranges::none_of(result, [&](const auto& c) { return c.entry.about.name == entry.about.name; }))
      throw error(errc::usage, "algorithm '" + entry.about.name + "' has a parameter without a default",
                  "give algorithm_cases a further spec, with a value");
  return result;
}

/// The spec as a name for googletest.
inline std::string law_name(const testing::TestParamInfo<algorithm_case>& instance) {
  return testing_support::as_test_name(instance.param.spec);
}

inline std::vector<double> in_doubles(const vec& v) { return {v.view().begin(), v.view().end()}; }

inline double squared_error(const std::vector<double>& result, const std::vector<double>& expected) {
  return std::inner_product(result.begin(), result.end(), expected.begin(), 0.0, std::plus{},
                            [](double a, double b) { return (a - b) * (a - b); });
}

inline constexpr std::size_t law_dimension = 33;
inline constexpr tensor_shape law_tensors[]{{4, 8}, {1, law_dimension - 32}};

/// Noisy gradients of (1/2) ||x - centre_i||^2, where every worker has its own centre.
class law_problem {
public:
  explicit law_problem(float noise) : noise_(noise) {}

  vec centre(rank i) { return point(pool_, random_stream{9, i, purpose::synthetic}, 0); }
  vec gradient(rank i, std::uint64_t step, const vec& x) {
    return x - centre(i) + noise_ * point(pool_, random_stream{9, i, purpose::data}, step);
  }
  tiny_world::gradient_of gradients() {
    return [this](rank i, std::uint64_t step, const vec& x) { return gradient(i, step, x); };
  }
  vec start() { return vec{pool_, law_dimension}; }

private:
  static vec point(buffer_pool& pool, random_stream stream, std::uint64_t step) {
    vec v{pool, law_dimension};
    random_sequence r{stream, step};
    for (auto& value : v.mutate())
      value = static_cast<float>(r.normal());
    return v;
  }

  buffer_pool pool_;
  float noise_;
};

class algorithm_law : public testing::TestWithParam<algorithm_case> {
protected:
  const algorithm_entry& entry() const { return GetParam().entry; }
  arguments given() const { return {"algorithm", entry().about, spec::parse(GetParam().spec)}; }
  std::size_t masters() const { return entry().masters ? entry().masters(given()) : 0; }

  /// Makes a world with the masters that the algorithm needs.
  tiny_world world_of(tiny_world::options o, const vec& x, tiny_world::gradient_of gradient) const {
    o.masters = masters();
    o.codecs = GetParam().codecs;
    o.synchronous = entry().traits.synchronous;
    o.on_loss = entry().traits.on_loss;
    o.updates_per_epoch = 10;
    const auto make = [this, x, workers = o.workers](rank i) {
      const auto values = given();
      const algorithm_setup setup{.given = values,
                                  .initial = x,
                                  .tensors = law_tensors,
                                  .master = i < workers ? 0 : i - workers,
                                  .codecs = GetParam().codecs};
      return i < workers ? make_for_worker(entry(), setup) : make_for_master(entry(), setup);
    };
    return {o, make, std::move(gradient)};
  }
  /// Returns the mean of all models, or the models of the masters, one behind the other.
  std::vector<double> result_of(tiny_world& world, std::size_t workers) const {
    if (masters() > 0) {
      std::vector<double> all;
      for (std::size_t k = 0; k < masters(); ++k)
        std::ranges::copy(world.model(static_cast<rank>(workers + k)).view(), std::back_inserter(all));
      return all;
    }
    auto mean = world.sum_of_models();
    for (auto& value : mean)
      value /= static_cast<double>(workers);
    return mean;
  }

  static constexpr std::uint64_t stop = 13, steps = 32;

  /// Makes a world of which states are kept before step `stop`, or that begins with such states.
  tiny_world world_to_save(law_problem& p, std::size_t workers, tiny_world::options o) const {
    o.codec = entry().traits.default_codec;
    o.optimiser = "nesterov:beta=0.8";
    o.workers = workers;
    o.equal_steps = entry().traits.equal_steps;
    o.steps = steps;
    o.lr = 0.05;
    o.event_time = {}; // no state has the time that gradients take
    return world_of(o, p.start(), p.gradients());
  }
  /// Expects that other objects, which begin with the kept states of a run, come to its end.
  void expect_same_end(law_problem& p, tiny_world& whole, std::size_t workers, std::uint64_t done) const {
    ASSERT_EQ(whole.kept_states().size(), workers + masters());
    auto second_half = world_to_save(p, workers, {.saved = whole.kept_states(), .done = done});
    ASSERT_TRUE(second_half.run());
    for (rank i = 0; i < workers + masters(); ++i) {
      EXPECT_NE(whole.model(i), p.start()) << "nothing was learnt";
      EXPECT_EQ(whole.model(i), second_half.model(i)) << i;
      EXPECT_EQ(whole.worker(i).state(), second_half.worker(i).state()) << i;
    }
  }
};

TEST_P(algorithm_law, with_one_worker_is_plain_sgd_bit_for_bit) {
  if (!entry().traits.promises.follows_mean_gradient)
    GTEST_SKIP() << "applies signs, also those of a single worker";
  if (!entry().traits.promises.sgd_alone)
    GTEST_SKIP() << "is not SGD, also with a single worker";
  for (const char* optimiser : {"sgd", "momentum:beta=0.9", "nesterov:beta=0.9,weight-decay=0.01"}) {
    law_problem p{0.1f};
    constexpr std::uint64_t planned = 50;
    auto world = world_of({.optimiser = optimiser, .workers = 1, .steps = planned}, p.start(), p.gradients());
    ASSERT_TRUE(world.run()) << world.who_waits();
    vec x = p.start();
    const auto plain = compute::make_optimiser(optimiser);
    for (std::uint64_t t = 0; t < planned; ++t)
      plain->step(x, p.gradient(0, t, x), 0.1f);
    const auto result = result_of(world, 1);
    ASSERT_EQ(result.size(), law_dimension);
    if (entry().traits.promises.sgd_to_the_bit) {
      EXPECT_EQ(result, in_doubles(x)) << optimiser;
    } else {
      EXPECT_LT(squared_error(result, in_doubles(x)), 1e-12 * sum_of_squares(x.view())) << optimiser;
    }
  }
}

TEST_P(algorithm_law, moves_by_a_direction_with_rate_one_as_by_its_gradient) {
  if (!entry().traits.takes_direction)
    GTEST_SKIP() << "scales what it sends by the rate itself, or wants gradients at other points";
  constexpr std::size_t workers = 4;
  const auto result = [&](float lr, float share) {
    law_problem p{0.1f};
    const auto gradient = [&](rank i, std::uint64_t step, const vec& x) {
      vec g = p.gradient(i, step, x);
      return g *= share;
    };
    auto world = world_of({.optimiser = "sgd", .workers = workers, .steps = 60, .lr = lr}, p.start(), gradient);
    EXPECT_TRUE(world.run()) << world.who_waits();
    return result_of(world, workers);
  };
  // A power of two is exact in every product, so the order of the two products shows in no bit.
  EXPECT_EQ(result(0.25f, 1), result(1, 0.25f));
}

/// The weights of workers in the minimum that a run finds. They are equal, but for an asynchronous run without masters:
/// each gradient moves the mean of n models by lr / n, and so takes this share from the weights of those before it.
class weights_of_workers {
public:
  weights_of_workers(std::size_t workers, double forgotten)
      : forgotten_(forgotten), weights_(workers, 1.0 / static_cast<double>(workers)) {}

  void counts(rank who) {
    for (auto& one : weights_)
      one *= 1 - forgotten_;
    weights_[who] += forgotten_;
  }
  vec mean_of_centres(law_problem& p) const {
    vec sum = zeros_like(p.start());
    for (rank i = 0; i < weights_.size(); ++i)
      sum += static_cast<float>(weights_[i]) * p.centre(i);
    return sum;
  }

private:
  double forgotten_;
  std::vector<double> weights_; ///< they sum to 1
};

TEST_P(algorithm_law, finishes_and_finds_the_minimum_under_any_interleaving) {
  constexpr std::size_t workers = 6;
  constexpr double lr = 0.05;
  const auto& traits = entry().traits;
  for (std::uint64_t seed = 1; seed <= test::tries(20); ++seed) {
    law_problem p{0.02f};
    weights_of_workers weights{workers, traits.synchronous || masters() > 0 ? 0 : lr / workers};
    const auto gradient = [&](rank i, std::uint64_t step, const vec& x) {
      weights.counts(i);
      return p.gradient(i, step, x);
    };
    auto world = world_of({.workers = workers, .steps = 300, .lr = lr, .seed = seed}, p.start(), gradient);
    ASSERT_TRUE(world.run()) << "seed " << seed << '\n' << world.who_waits();
    if (!traits.promises.follows_mean_gradient)
      continue; // workers that vote by sign do not agree on the minimum of the mean
    const vec minimum = weights.mean_of_centres(p);
    const auto result = result_of(world, workers);
    ASSERT_EQ(result.size(), law_dimension);
    // Where models differ, so do their gradients from those at the mean. A master's model is as noisy as a single
    // worker's, not as a mean of several.
    const double share = traits.synchronous ? 0.01 : masters() == 0 ? 0.03 : 0.06 * workers;
    EXPECT_LT(squared_error(result, in_doubles(minimum)), share * sum_of_squares(minimum.view())) << "seed " << seed;
  }
}

/// Returns the workers that have sent nothing.
inline std::vector<rank> silent_workers(const tiny_world& world, std::size_t workers) {
  std::vector<rank> result;
  for (rank i = 0; i < workers; ++i)
    if (world.sent(i).frames == 0)
      result.push_back(i);
  return result;
}

// Workers that train alone would each find a minimum, and keep most other laws.
TEST_P(algorithm_law, lets_others_hear_of_each_worker) {
  constexpr std::size_t workers = 4;
  law_problem p{0.1f};
  auto world = world_of({.workers = workers, .steps = 300, .lr = 0.05}, p.start(), p.gradients());
  ASSERT_TRUE(world.run()) << world.who_waits();
  EXPECT_EQ(silent_workers(world, workers), std::vector<rank>{}) << "have sent nothing in 300 steps";
}

/// Bounds the errors of codecs in the sum of the models, by the messages that carry them: of `uniform`, the run's, and
/// of others that the algorithm itself has chosen.
class rounding_noise {
public:
  explicit rounding_noise(const registry<compress::codec_entry>& codecs) : codecs_(codecs) {}

  void hears(const frame& f) {
    const auto made_by = std::ranges::find(codecs_, f.body.codec, &compress::codec_entry::wire_number);
    if (f.body.bits > 0 && made_by != codecs_.end() && !is_exact(*made_by)
        && messages_.insert({f.source, f.label}).second)
      variance_ += std::pow(most_error_of(f.body), 2);
  }
  /// Returns 4.5 standard deviations. ECD's estimates remember a message with a weight of 2, in all steps together. In
  /// other algorithms the weight is 1.
  double most_of_its_sum() const { return 4.5 * 2 * std::sqrt(variance_); }

private:
  bool is_exact(const compress::codec_entry& entry) {
    const auto [known, is_new] = exact_.try_emplace(entry.wire_number);
    if (is_new)
      known->second =
          compress::make_codec(entry.examples.empty() ? entry.about.name : entry.examples.front(), {}, codecs_)
              ->can()
              .exact;
    return known->second;
  }
  /// Returns half a level of `uniform`. Other codecs are taken to be off by no more than the largest element that they
  /// let pass.
  double most_error_of(const packet& p) const {
    if (p.codec != uniform_)
      return static_cast<double>(max_magnitude(compress::decode(p, codecs_).view()));
    float delta = 0;
    if (p.bits > 32)
      std::memcpy(&delta, p.payload.data(), sizeof delta);
    return static_cast<double>(delta) / 2;
  }

  registry<compress::codec_entry> codecs_;
  std::uint8_t uniform_ = compress::codecs().find("uniform").wire_number;
  std::map<std::uint8_t, bool> exact_;
  std::set<std::pair<rank, tag>> messages_;
  double variance_ = 0;
};

// The sum of all models moves only by the gradients: averaging neither loses nor invents anything.
TEST_P(algorithm_law, averaging_conserves_the_mean_of_the_models) {
  if (!entry().traits.promises.follows_mean_gradient)
    GTEST_SKIP() << "what signs leave out is not in the models";
  if (masters() > 0)
    GTEST_SKIP() << "workers do not average: what they exchange with masters is claimed, and checked in simulation";
  for (const char* codec : {"identity", "uniform:bits=8", "uniform:bits=16"}) {
    const bool lossy = std::string_view{codec} != "identity";
    if (entry().traits.needs == codec_need::exact && lossy)
      continue;
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      law_problem p{1.0f};
      std::vector<double> applied(law_dimension);
      constexpr std::size_t workers = 4;
      rounding_noise noise{GetParam().codecs};
      auto world = world_of({.codec = codec,
                             .workers = workers,
                             .steps = 40,
                             .seed = seed,
                             .on_send = [&](rank, const frame& f) { noise.hears(f); }},
                            p.start(), [&](rank i, std::uint64_t step, const vec& x) {
                              auto g = p.gradient(i, step, x);
                              for (std::size_t k = 0; k < law_dimension; ++k)
                                applied[k] -= 0.1 * static_cast<double>(g[k]);
                              return g;
                            });
      ASSERT_TRUE(world.run()) << world.who_waits();
      const auto sum = world.sum_of_models();
      const double allowed = entry().traits.promises.lossy_codecs_move_mean ? noise.most_of_its_sum() : 0;
      for (std::size_t k = 0; k < law_dimension; ++k)
        EXPECT_NEAR(sum[k], applied[k], allowed + 2e-4 * (1 + std::abs(applied[k]))) << codec << " seed " << seed;
    }
  }
}

TEST_P(algorithm_law, repeats_itself_for_the_same_seed) {
  const auto run = [&](std::uint64_t seed) {
    law_problem p{0.5f};
    auto world = world_of({.codec = (entry().traits.needs == codec_need::exact) ? "identity" : "uniform:bits=4",
                           .workers = 4,
                           .steps = 30,
                           .seed = seed},
                          p.start(), p.gradients());
    EXPECT_TRUE(world.run()) << world.who_waits();
    return result_of(world, 4);
  };
  EXPECT_EQ(run(1), run(1));
}

// The state is complete: a run that is saved at the beginning of a step ends at the same result.
TEST_P(algorithm_law, goes_on_where_it_was_saved_bit_for_bit) {
  // A number of workers for which a run is a function of its seed alone: several with equal steps, or only one.
  const std::size_t workers = entry().traits.synchronous ? 4 : 1;
  law_problem p{0.1f};
  auto whole = world_to_save(p, workers, {.keep_states_at = stop});
  ASSERT_TRUE(whole.run()) << whole.who_waits();
  if (whole.kept_states().empty())
    GTEST_SKIP() << "its workers only do what the master tells them";
  expect_same_end(p, whole, workers, stop * workers);
}

// Also of several workers that do not wait for each other, where they rest: no other moment is one for all of them.
TEST_P(algorithm_law, goes_on_with_several_workers_where_they_rest) {
  constexpr std::size_t workers = 4;
  law_problem p{0.1f};
  auto whole = world_to_save(p, workers, {.rest_at = stop});
  ASSERT_TRUE(whole.run()) << whole.who_waits();
  if (whole.kept_states().empty())
    GTEST_SKIP() << "its workers only do what the master tells them, or never rest";
  expect_same_end(p, whole, workers, whole.updates_at_rest());
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(algorithm_law);

} // namespace gossamer::actors
