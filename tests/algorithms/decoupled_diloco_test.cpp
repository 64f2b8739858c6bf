// Decoupled DiLoCo against DiLoCo, and its syncer against plain loops.
#include "gossamer/base/error.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <numeric>
#include <set>

#include "outer_problem.hpp"

namespace gossamer::actors {
namespace {

using namespace testing_support::outer_problem;

constexpr auto as_diloco = "decoupled-diloco:period=5,fragments=1,overlap=0,own-share=0,merge=mean,quorum=";

vec synced(std::size_t n, const std::string& more, quadratics& p, tiny_world::options o = {}) {
  o.workers = n;
  o.equal_steps = true;
  o.steps = steps;
  auto world = world_with_master(as_diloco + std::to_string(n) + more, p, o);
  EXPECT_TRUE(world.run());
  return world.model(static_cast<rank>(n));
}

vec of_diloco(std::size_t n, quadratics& p) {
  tiny_world diloco{{.workers = n, .steps = steps}, runs("diloco:period=5", p.start()), p.gradients()};
  EXPECT_TRUE(diloco.run());
  return diloco.model(0);
}

// The ring of DiLoCo adds up each segment from another member on; of two numbers the sum is the same.
TEST(decoupled_diloco, of_two_that_wait_for_each_other_is_diloco_bit_for_bit) {
  for (std::uint64_t timing = 0; timing < 5; ++timing) {
    quadratics p{2, size, 0.3f};
    EXPECT_EQ(synced(2, "", p, {.timing = timing}), of_diloco(2, p)) << "timing " << timing;
  }
}

TEST(decoupled_diloco, of_more_is_diloco_up_to_the_order_of_sums) {
  quadratics p{workers, size, 0.3f};
  const auto first = synced(workers, "", p), expected = of_diloco(workers, p);
  for (std::uint64_t timing = 1; timing < 5; ++timing)
    EXPECT_EQ(synced(workers, "", p, {.timing = timing}), first) << "added in the order of ranks";
  for (const char* more : {"", ",anchor=read", ",grace=0.1"}) {
    const auto theta = synced(workers, more, p);
    for (std::size_t k = 0; k < size; ++k)
      ASSERT_NEAR(theta[k], expected[k], 2e-6f) << more;
  }
}

TEST(decoupled_diloco, of_packed_distances_is_diloco_up_to_their_rounding) {
  quadratics p{workers, size, 0.3f};
  const auto expected = of_diloco(workers, p);
  for (const char* anchor : {",anchor=current", ",anchor=read"}) {
    const auto theta = synced(workers, anchor, p, {.codec = "uniform:bits=12"});
    for (std::size_t k = 0; k < size; ++k)
      ASSERT_NEAR(theta[k], expected[k], 0.01) << anchor;
  }
}

TEST(decoupled_diloco, does_what_plain_loops_of_streaming_diloco_do_where_all_wait) {
  constexpr std::uint64_t last = steps - 1;
  for (const std::uint64_t tau : {0u, 1u, 3u}) {
    quadratics p{workers, size, 0.3f};
    const auto expected = streamed(p, tau, last);
    std::size_t compared = 0;
    auto world = world_with_master("decoupled-diloco:period=10,fragments=2,own-share=0.25,merge=mean,quorum=4,overlap="
                                       + std::to_string(tau),
                                   p, {.workers = workers, .equal_steps = true, .steps = steps},
                                   [&, g = p.gradients()](rank i, std::uint64_t t, const vec& x) {
                                     for (std::size_t k = 0; k < size && t == last; ++k, ++compared)
                                       EXPECT_NEAR(static_cast<double>(x[k]), expected[i][k], 1e-4) << "tau " << tau;
                                     return g(i, t, x);
                                   });
    ASSERT_TRUE(world.run());
    EXPECT_EQ(compared, workers * size);
  }
}

TEST(decoupled_diloco, sends_each_fragment_up_and_down_every_period) {
  for (const char* codec : {"identity", "uniform:bits=8"}) {
    quadratics p{1, size};
    auto world = world_with_master("decoupled-diloco:period=5,fragments=2,overlap=1", p,
                                   {.codec = codec, .workers = 1, .steps = steps - 1});
    ASSERT_TRUE(world.run());
    // The second fragment leaves after 2 of 5 steps and the first after 5; the rest of both follows.
    constexpr auto pushes = rounds - 1 + rounds + 2;
    EXPECT_EQ(world.sent(0).payload_bits, pushes * compress::make_codec(codec)->bits(size / 2)) << codec;
    EXPECT_EQ(world.sent(1).payload_bits, 32 * size + (pushes - 2) * 32 * (size / 2)) << codec;
  }
}

/// The syncer of one fragment in plain loops, for exact codecs and anchor=current.
class plain_syncer {
public:
  plain_syncer(std::size_t quorum, bool radial) : quorum_(quorum), radial_(radial), theta_(size), u_(size) {}

  void hears(const frame& f) {
    constexpr std::uint32_t push_rest = 2, leave = 3;
    left_ += (f.label.part & 3) == leave;
    if ((f.label.part & 3) >= push_rest)
      ending_.insert(f.source);
    if (f.body.elements > 0) {
      std::vector<float> x(size);
      std::memcpy(x.data(), f.body.payload.data(), size * sizeof(float));
      auto& [latest, count] = batch_[f.source];
      latest.assign(x.begin(), x.end());
      count += f.label.part >> 12;
    }
    const auto trains = [this](const auto& push) { return !ending_.contains(push.first); };
    if (left_ == workers || std::cmp_greater_equal(std::ranges::count_if(batch_, trains), quorum_))
      step();
  }
  const std::vector<double>& theta() const { return theta_; }
  std::size_t steps_taken() const { return steps_; }
  std::size_t unequal() const { return unequal_; }

private:
  void step() {
    const auto batch = std::exchange(batch_, {});
    if (batch.empty())
      return;
    double total = 0, radius = 0;
    std::vector<double> mean(size), direction(size);
    for (const auto& [_, push] : batch) {
      const auto& [x, count] = push;
      const auto weight = static_cast<double>(count);
      double squares = 0;
      for (std::size_t k = 0; k < size; ++k)
        squares += (theta_[k] - x[k]) * (theta_[k] - x[k]);
      total += weight;
      radius += weight * std::sqrt(squares);
      for (std::size_t k = 0; k < size; ++k) {
        mean[k] += weight * (theta_[k] - x[k]);
        direction[k] += squares > 0 ? weight * (theta_[k] - x[k]) / std::sqrt(squares) : 0;
      }
      unequal_ += count != batch.begin()->second.second;
    }
    const double norm = std::sqrt(std::inner_product(direction.begin(), direction.end(), direction.begin(), 0.0));
    for (std::size_t k = 0; k < size; ++k) {
      const double delta = radial_ ? radius / total * direction[k] / norm : mean[k] / total;
      u_[k] = 0.5 * u_[k] + delta;
      theta_[k] -= 0.6 * (delta + 0.5 * u_[k]);
    }
    ++steps_;
  }

  std::size_t quorum_;
  bool radial_;
  std::vector<double> theta_, u_;
  std::map<rank, std::pair<std::vector<double>, std::uint64_t>> batch_;
  std::set<rank> ending_;
  std::size_t left_ = 0, steps_ = 0, unequal_ = 0;
};

TEST(decoupled_diloco, steps_on_each_quorum_with_the_weights_of_its_learners) {
  std::size_t unequal = 0;
  for (const bool radial : {false, true})
    for (std::size_t quorum = 1; quorum <= workers; ++quorum)
      for (std::uint64_t timing = 0; timing < 5; ++timing) {
        quadratics p{workers, size, 0.3f};
        plain_syncer expected{quorum, radial};
        auto world = world_with_master(
            "decoupled-diloco:period=5,fragments=1,overlap=0,own-share=0,outer-lr=0.6,outer-momentum=0.5,quorum="
                + std::to_string(quorum) + (radial ? "" : ",merge=mean"),
            p, {.workers = workers, .steps = steps, .timing = timing, .on_delivery = [&](rank to, const frame& f) {
                  if (to == workers)
                    expected.hears(f);
                }});
        ASSERT_TRUE(world.run());
        EXPECT_GE(expected.steps_taken(), rounds * workers / quorum / 2);
        unequal += expected.unequal();
        for (std::size_t k = 0; k < size; ++k)
          ASSERT_NEAR(static_cast<double>(world.model(workers)[k]), expected.theta()[k],
                      1e-3 * (1 + std::abs(expected.theta()[k])))
              << "quorum " << quorum << ", timing " << timing << ", radial " << radial;
      }
  EXPECT_GT(unequal, 50u) << "weights were at work";
}

/// Theta with K = 1, eta = 1 and mu = 0, where learner 0 walks and learner 1 stands still; and the last model that each
/// of them has sent.
struct walk {
  vec theta;
  std::map<rank, std::vector<float>> sent;
  rank last = 0;
};

walk walked(const std::string& anchor, std::uint64_t timing) {
  walk result;
  quadratics p{1, size};
  const vec g = p.gradients()(0, 0, p.start());
  auto world = world_with_master("decoupled-diloco:period=5,fragments=1,overlap=0,own-share=0,merge=mean,quorum=1,"
                                 "outer-lr=1,outer-momentum=0,anchor="
                                     + anchor,
                                 p,
                                 {.workers = 2,
                                  .equal_steps = true,
                                  .steps = steps,
                                  .timing = timing,
                                  .on_delivery =
                                      [&](rank to, const frame& f) {
                                        if (to != 2 || f.body.elements == 0)
                                          return;
                                        auto& x = result.sent[f.source];
                                        x.resize(size);
                                        std::memcpy(x.data(), f.body.payload.data(), size * sizeof(float));
                                        result.last = f.source;
                                      }},
                                 [&](rank i, std::uint64_t, const vec& x) { return i == 0 ? g : zeros_like(x); });
  EXPECT_TRUE(world.run());
  result.theta = world.model(2);
  return result;
}

// A learner that stands still takes others back with anchor=current, since theta is the model that was pushed last. A
// move from what it has read undoes nothing.
TEST(decoupled_diloco, takes_moves_from_its_own_model_or_from_the_one_that_was_read) {
  for (std::uint64_t timing = 0; timing < 5; ++timing) {
    buffer_pool pool;
    const auto current = walked("current", timing);
    EXPECT_EQ(current.theta, vec(pool, current.sent.at(current.last)));
    const auto read = walked("read", timing);
    quadratics p{1, size};
    const vec g = p.gradients()(0, 0, p.start());
    for (std::size_t k = 0; k < size; ++k)
      ASSERT_NEAR(static_cast<double>(read.theta[k]), -gamma * steps * static_cast<double>(g[k]), 1e-4) << timing;
  }
}

// All had left the run before: the first who push in this one wait for the others all the same.
TEST(decoupled_diloco, waits_for_its_quorum_in_a_run_that_goes_on_after_its_end) {
  quadratics p{workers, size};
  const auto spec = as_diloco + std::to_string(workers) + ",anchor=read";
  tiny_world::options o{.workers = workers, .equal_steps = true, .steps = steps};
  auto ended = world_with_master(spec, p, o);
  ASSERT_TRUE(ended.run());

  o.saved = ended.states();
  o.done = workers * steps;
  o.steps = 2 * steps;
  std::set<rank> pushed;
  std::size_t answered_at = 0;
  o.on_delivery = [&](rank to, const frame& f) {
    if (to == workers && f.body.elements > 0)
      pushed.insert(f.source);
  };
  o.on_send = [&](rank to, const frame& f) {
    if (f.source == workers && f.body.elements > 0 && pushed.contains(to) && answered_at == 0)
      answered_at = pushed.size();
  };
  auto on = world_with_master(spec, p, o);
  ASSERT_TRUE(on.run());
  EXPECT_EQ(answered_at, workers);
}

// Two of five steps follow a fragment's turn when the first run ends, and are pushed then.
TEST(decoupled_diloco, counts_the_last_moves_once_in_a_run_that_goes_on_after_its_end) {
  quadratics p{workers, size};
  const auto spec = as_diloco + std::to_string(workers) + ",anchor=read,outer-lr=1,outer-momentum=0";
  tiny_world::options o{.workers = workers, .equal_steps = true, .steps = steps + 2};
  auto ended = world_with_master(spec, p, o, constant_gradients(p));
  ASSERT_TRUE(ended.run());
  o.saved = ended.states();
  o.done = workers * o.steps;
  o.steps = 2 * steps;
  auto on = world_with_master(spec, p, o, constant_gradients(p));
  ASSERT_TRUE(on.run());
  for (std::size_t k = 0; k < size; ++k) {
    double expected = 0;
    for (std::size_t i = 0; i < workers; ++i)
      expected -= gamma * 2 * steps / workers * static_cast<double>(p.gradient(i, 0, p.start().view())[k]);
    ASSERT_NEAR(static_cast<double>(on.model(workers)[k]), expected, 1e-4 * (1 + std::abs(expected)));
  }
}

/// Returns the syncer's model of a run that is cut off when pushes of the second round come, and goes on with another
/// codec.
vec with_another_codec(const std::string& spec, const std::string& before, const std::string& after, quadratics& p) {
  tiny_world* world = nullptr;
  std::size_t pushes = 0;
  std::uint64_t gradients = 0;
  tiny_world::options o{.workers = workers, .equal_steps = true, .steps = steps}, cut = o;
  o.codec = before;
  o.on_delivery = [&](rank to, const frame& f) {
    if (to != workers || f.body.elements == 0 || ++pushes != workers + 2)
      return;
    cut.saved = world->states();
    cut.done = gradients;
  };
  auto first = world_with_master(spec, p, o, [&, g = p.gradients()](rank i, std::uint64_t t, const vec& x) {
    ++gradients;
    return g(i, t, x);
  });
  world = &first;
  EXPECT_TRUE(first.run());
  cut.codec = after;
  auto second = world_with_master(spec, p, cut);
  EXPECT_TRUE(second.run());
  return second.model(workers);
}

TEST(decoupled_diloco, goes_on_with_an_exact_codec_from_what_an_inexact_one_was_to_pack) {
  for (const char* anchor : {",anchor=current", ",anchor=read"}) {
    quadratics p{workers, size, 0.3f};
    const auto expected = of_diloco(workers, p);
    const auto theta =
        with_another_codec(as_diloco + std::to_string(workers) + anchor, "uniform:bits=16", "identity", p);
    for (std::size_t k = 0; k < size; ++k)
      ASSERT_NEAR(theta[k], expected[k], 0.01) << anchor;
  }
}

// The syncer does not know what learners have read, and leaves their first pushes out.
TEST(decoupled_diloco, goes_on_with_an_inexact_codec_after_an_exact_one) {
  quadratics p{workers, size};
  const auto theta = with_another_codec(as_diloco + std::to_string(workers) + ",outer-lr=1,outer-momentum=0",
                                        "identity", "uniform:bits=16", p);
  const auto reached = p.gap({theta.view().begin(), theta.view().end()});
  EXPECT_LT(reached, 0.7 * p.gap(std::vector<double>(size)));
}

// With a quorum of one, each push makes a step but the last ones of a learner, which belong to the next.
TEST(decoupled_diloco, counts_what_a_learner_pushes_that_leaves) {
  constexpr std::uint32_t push_rest = 2, leave = 3;
  constexpr std::uint64_t after = 13;
  for (std::uint64_t timing = 0; timing < 10; ++timing) {
    quadratics p{workers, size};
    plain_syncer expected{1, false};
    std::vector<float> rest(size);
    std::uint64_t steps_of_rest = 0;
    world_with_leaver world{{.algorithm =
                                 "decoupled-diloco:period=5,fragments=1,overlap=0,own-share=0,merge=mean,outer-lr=0.6,"
                                 "outer-momentum=0.5,quorum=1",
                             .after = after,
                             .last_question = leave,
                             .timing = timing,
                             .hears =
                                 [&](const frame& f) {
                                   expected.hears(f);
                                   if (f.source != world_with_leaver::leaver || (f.label.part & leave) != push_rest)
                                     return;
                                   std::memcpy(rest.data(), f.body.payload.data(), size * sizeof(float));
                                   steps_of_rest += f.label.part >> 12;
                                 }},
                            p};
    world.run();
    ASSERT_TRUE(world.is_gone()) << "timing " << timing;
    EXPECT_EQ(steps_of_rest, after % period);
    EXPECT_TRUE(std::ranges::equal(rest, world.model(world_with_leaver::leaver).view()));
    for (std::size_t k = 0; k < size; ++k)
      ASSERT_NEAR(static_cast<double>(world.model(workers)[k]), expected.theta()[k],
                  1e-3 * (1 + std::abs(expected.theta()[k])))
          << "timing " << timing;
  }
}

TEST(decoupled_diloco, refuses_a_fragment_that_leaves_before_the_last_has_arrived) {
  quadratics p{1, size};
  for (const char* spec : {"period=10,fragments=2,overlap=5", "period=3,fragments=4,overlap=0", "period=1,overlap=1"})
    EXPECT_THROW(runs(std::string{"decoupled-diloco:"} + spec, p.start())(0), error) << spec;
}

} // namespace
} // namespace gossamer::actors
