// Asynchronous DiLoCo against plain loops: shares of a step, grace, quorum, and what is sent.
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <optional>
#include <set>

#include "outer_problem.hpp"

namespace gossamer::actors {
namespace {

using namespace testing_support::outer_problem;

TEST(async_diloco, of_one_worker_is_diloco) {
  quadratics p{1, size, 0.3f};
  auto world = world_with_master("async-diloco:period=5,outer-momentum=0.9", p, {.workers = 1, .steps = steps});
  tiny_world diloco{{.workers = 1, .steps = steps}, runs("diloco:period=5", p.start()), p.gradients()};
  ASSERT_TRUE(world.run() && diloco.run());
  EXPECT_LT(squared_distance(world.model(1).view(), diloco.model(0).view()), 1e-10);
}

// All workers move by the same constant distance, so theta is that of DiLoCo whenever all have pushed as often.
TEST(async_diloco, makes_one_step_of_n_pushes) {
  constexpr std::size_t n = 3;
  quadratics p{1, size};
  const auto same = [&, g = p.gradients()](rank, std::uint64_t, const vec&) { return g(0, 0, p.start()); };
  auto world = world_with_master("async-diloco:period=5,outer-lr=0.6,outer-momentum=0.7", p,
                                 {.workers = n, .equal_steps = true, .steps = steps}, same);
  ASSERT_TRUE(world.run());
  const auto g = p.gradient(0, 0, p.start().view());
  for (std::size_t k = 0; k < size; ++k) {
    double theta = 0, u = 0;
    const double delta = gamma * period * static_cast<double>(g[k]);
    for (std::uint64_t round = 0; round < rounds; ++round) {
      u = 0.7 * u + delta;
      theta -= 0.6 * (delta + 0.7 * u);
    }
    EXPECT_NEAR(static_cast<double>(world.model(n)[k]), theta, 1e-4 * (1 + std::abs(theta)));
  }
}

TEST(async_diloco, sends_a_move_up_and_a_model_down_every_period) {
  for (const char* more : {"", ",grace=0.1", ",quorum=1", ",dylu=yes"}) {
    quadratics p{1, size};
    auto world = world_with_master(std::string{"async-diloco:period=5"} + more, p,
                                   {.codec = "uniform:bits=8", .workers = 1, .steps = steps});
    ASSERT_TRUE(world.run());
    EXPECT_EQ(world.sent(0).payload_bits, rounds * compress::make_codec("uniform:bits=8")->bits(size)) << more;
    EXPECT_EQ(world.sent(1).payload_bits, rounds * 32 * size) << more;
  }
}

/// A world of async-diloco, and 4 workers that do the same number of steps.
tiny_world even_world(const std::string& more, quadratics& p, tiny_world::options o = {}) {
  o.workers = workers;
  o.equal_steps = true;
  o.steps = steps;
  o.event_time = {};
  return world_with_master("async-diloco:period=5,outer-lr=0.6,outer-momentum=0.7," + more, p, std::move(o));
}

// Where time stands still while anybody can do something, all have pushed when the grace is over.
TEST(async_diloco, is_diloco_where_the_master_waits_for_all) {
  for (const char* more : {"grace=0.1", "quorum=4", "quorum=4,grace=0.1", "quorum=1,grace=0.1", "quorum=9"}) {
    quadratics p{workers, size, 0.3f};
    auto world = even_world(more, p);
    tiny_world diloco{{.workers = workers, .steps = steps},
                      runs("diloco:period=5,outer-lr=0.6,outer-momentum=0.7", p.start()),
                      p.gradients()};
    ASSERT_TRUE(world.run() && diloco.run()) << more;
    const auto theta = world.model(workers).view(), expected = diloco.model(0).view();
    for (std::size_t k = 0; k < size; ++k)
      ASSERT_NEAR(theta[k], expected[k], 1e-5f) << more;
  }
}

TEST(async_diloco, answers_all_pushes_of_a_grace_with_one_model) {
  for (const bool waits : {false, true}) {
    std::map<std::uint64_t, std::set<std::vector<std::byte>>> answers; // by question
    quadratics p{workers, size, 0.3f};
    auto world = even_world(waits ? "grace=0.1" : "grace=0", p, {.on_send = [&](rank, const frame& f) {
                              if (f.label.kind == frame_kind::reply && f.body.elements > 0) {
                                const auto bytes = f.body.payload.bytes();
                                answers[f.label.step].emplace(bytes.begin(), bytes.end());
                              }
                            }});
    ASSERT_TRUE(world.run());
    ASSERT_EQ(answers.size(), rounds);
    if (!waits)
      answers.erase(1); // some pull for the first time after a push of others
    for (const auto& [question, models] : answers)
      EXPECT_EQ(models.size(), waits ? 1 : workers) << "question " << question;
  }
}

/// The master of a quorum in plain loops. The last pushes, after the end of training, are shares of a last step.
class plain_quorum {
public:
  explicit plain_quorum(std::size_t quorum) : quorum_(quorum), theta_(size), m_(size), sum_(size) {}

  void hears(const frame& f) {
    const bool is_repeated = std::exchange(last_[f.source], f.label.step) == f.label.step;
    if (f.body.elements == 0 || is_repeated)
      return;
    std::vector<float> move(size);
    std::memcpy(move.data(), f.body.payload.data(), size * sizeof(float));
    batch_.push_back(move);
    if (over_ || batch_.size() == quorum_)
      step();
  }
  void training_is_over() {
    over_ = true;
    step();
  }
  /// Begins a run that goes on after the end of another.
  void goes_on() {
    over_ = false;
    std::ranges::fill(sum_, 0);
    pushes_ = 0;
  }
  const std::vector<double>& theta() const { return theta_; }
  std::size_t steps() const { return steps_; }
  /// Pushes that wait for others.
  std::size_t waiting() const { return batch_.size(); }
  /// True if training is over and not all have pushed their shares.
  bool is_within_last_step() const { return over_ && pushes_ > 0; }

private:
  void step() {
    const auto n = over_ ? workers : batch_.size();
    for (const auto& move : std::exchange(batch_, {})) {
      for (std::size_t k = 0; k < size; ++k) {
        sum_[k] += static_cast<double>(move[k]);
        theta_[k] -= 0.6 * static_cast<double>(move[k]) / static_cast<double>(n);
      }
      if (++pushes_ < n)
        continue;
      for (std::size_t k = 0; k < size; ++k) {
        m_[k] = 0.7 * m_[k] + std::exchange(sum_[k], 0) / static_cast<double>(n);
        theta_[k] -= 0.6 * 0.7 * m_[k];
      }
      pushes_ = 0;
      ++steps_;
    }
  }

  std::size_t quorum_;
  std::vector<double> theta_, m_, sum_;
  std::vector<std::vector<float>> batch_;
  std::map<rank, std::uint64_t> last_; // numbers of questions
  std::size_t pushes_ = 0, steps_ = 0;
  bool over_ = false;
};

// A step divides by the number of those that came, and has its momentum once, whoever they are.
TEST(async_diloco, makes_one_step_of_each_quorum) {
  for (std::size_t quorum = 1; quorum <= workers; ++quorum)
    for (std::uint64_t timing = 0; timing < 5; ++timing) {
      quadratics p{workers, size, 0.3f};
      plain_quorum expected{quorum};
      std::uint64_t gradients = 0;
      const auto counted = [&, g = p.gradients()](rank i, std::uint64_t t, const vec& x) {
        if (++gradients == steps * workers)
          expected.training_is_over();
        return g(i, t, x);
      };
      auto world =
          world_with_master("async-diloco:period=5,outer-lr=0.6,outer-momentum=0.7,quorum=" + std::to_string(quorum), p,
                            {.workers = workers,
                             .steps = steps,
                             .timing = timing,
                             .on_delivery =
                                 [&](rank to, const frame& f) {
                                   if (to == workers)
                                     expected.hears(f);
                                 }},
                            counted);
      ASSERT_TRUE(world.run());
      EXPECT_GE(expected.steps(), rounds * workers / quorum - 2);
      for (std::size_t k = 0; k < size; ++k)
        ASSERT_NEAR(static_cast<double>(world.model(workers)[k]), expected.theta()[k],
                    1e-4 * (1 + std::abs(expected.theta()[k])))
            << "quorum " << quorum << ", timing " << timing;
    }
}

// The checkpoint is of the end of a run, when some of the workers have pushed their shares of the last step.
TEST(async_diloco, makes_one_step_of_each_quorum_in_a_run_that_goes_on_from_a_part_of_the_last_step) {
  for (std::size_t quorum = 1; quorum <= workers; ++quorum)
    for (std::uint64_t timing = 0; timing < 5; ++timing) {
      SCOPED_TRACE(testing::Message() << "quorum " << quorum << ", timing " << timing);
      const auto spec = "async-diloco:period=5,outer-lr=0.6,outer-momentum=0.7,quorum=" + std::to_string(quorum);
      quadratics p{workers, size};
      plain_quorum expected{quorum};
      std::uint64_t gradients = 0;
      const auto until = [&](std::uint64_t end) {
        return [&, end, g = p.gradients()](rank i, std::uint64_t t, const vec& x) {
          if (++gradients == end * workers)
            expected.training_is_over();
          return g(i, t, x);
        };
      };
      tiny_world* world = nullptr;
      tiny_world::options o{.workers = workers, .steps = steps, .timing = timing}, later = o;
      std::optional<plain_quorum> then;
      o.on_delivery = [&](rank to, const frame& f) {
        if (to == workers)
          expected.hears(f);
        else if (!then && expected.is_within_last_step()) {
          then = expected;
          later.saved = world->states();
          later.done = gradients;
        }
      };
      auto first = world_with_master(spec, p, o, until(steps));
      world = &first;
      ASSERT_TRUE(first.run() && then);

      expected = *then;
      expected.goes_on();
      gradients = later.done;
      later.steps = 2 * steps;
      later.on_delivery = [&](rank to, const frame& f) {
        if (to == workers)
          expected.hears(f);
      };
      auto second = world_with_master(spec, p, later, until(2 * steps));
      ASSERT_TRUE(second.run());
      for (std::size_t k = 0; k < size; ++k)
        ASSERT_NEAR(static_cast<double>(second.model(workers)[k]), expected.theta()[k],
                    1e-4 * (1 + std::abs(expected.theta()[k])));
    }
}

TEST(async_diloco, counts_what_a_worker_pushes_that_leaves) {
  constexpr std::uint64_t after = 13;
  std::size_t alone = 0;
  for (std::uint64_t timing = 0; timing < 20; ++timing) {
    quadratics p{workers, size};
    plain_quorum expected{2};
    std::vector<double> moved(size);
    rank last = 0; // who has pushed
    world_with_leaver world{{.algorithm = "async-diloco:period=5,outer-lr=0.6,outer-momentum=0.7,quorum=2",
                             .after = after,
                             .last_question = 1,
                             .timing = timing,
                             .hears =
                                 [&](const frame& f) {
                                   expected.hears(f);
                                   if (f.body.elements > 0)
                                     last = f.source;
                                   std::vector<float> move(f.body.elements);
                                   if (f.source != world_with_leaver::leaver || move.empty())
                                     return;
                                   std::memcpy(move.data(), f.body.payload.data(), size * sizeof(float));
                                   for (std::size_t k = 0; k < size; ++k)
                                     moved[k] += static_cast<double>(move[k]);
                                 },
                             .departs = [&] { alone += last == world_with_leaver::leaver ? expected.waiting() : 0; }},
                            p};
    world.run();
    ASSERT_TRUE(world.is_gone()) << "timing " << timing;
    const auto g = p.gradient(world_with_leaver::leaver, 0, p.start().view());
    for (std::size_t k = 0; k < size; ++k) {
      EXPECT_NEAR(moved[k], gamma * after * static_cast<double>(g[k]), 1e-4 * (1 + std::abs(moved[k])));
      ASSERT_NEAR(static_cast<double>(world.model(workers)[k]), expected.theta()[k],
                  1e-4 * (1 + std::abs(expected.theta()[k])))
          << "timing " << timing;
    }
  }
  EXPECT_GT(alone, 0u) << "a push waited for another when its worker was gone";
}

// The move of a worker refers to the theta that it has read: one that stands still takes nobody back.
TEST(async_diloco, loses_nothing_to_a_worker_that_has_read_an_old_model) {
  for (std::uint64_t timing = 0; timing < 5; ++timing) {
    quadratics p{1, size};
    const vec g = p.gradients()(0, 0, p.start());
    auto world = world_with_master("async-diloco:period=5,outer-lr=1,outer-momentum=0,quorum=1", p,
                                   {.workers = 2, .equal_steps = true, .steps = steps, .timing = timing},
                                   [&](rank i, std::uint64_t, const vec& x) { return i == 0 ? g : zeros_like(x); });
    ASSERT_TRUE(world.run());
    for (std::size_t k = 0; k < size; ++k) {
      const double share = -static_cast<double>(world.model(2)[k]) / (gamma * steps * static_cast<double>(g[k]));
      EXPECT_LE(share, 1.0001) << "timing " << timing;
      EXPECT_GE(share, 0.9999 - 0.5 / rounds) << "timing " << timing << ": the last push may be half a step";
    }
  }
}

} // namespace
} // namespace gossamer::actors
