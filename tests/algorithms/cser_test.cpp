#include "gossamer/actors/run/experiment.hpp"
#include "gossamer/base/error.hpp"

#include <gmock/gmock.h>

#include "dense_cser.hpp"
#include "gossip_problem.hpp"

namespace gossamer::actors {
namespace {

using testing_support::dense_cser;
using testing_support::quadratics;
using testing_support::runs;
using testing_support::tiny_world;

constexpr std::size_t size = 33, workers = 5;
constexpr std::uint64_t steps = 48;
constexpr auto nesterov = "nesterov:beta=0.9";

/// Returns a codec as a nested spec: qsgd:levels=7 becomes qsgd/levels=7.
std::string nested(std::string codec) {
  std::ranges::replace_if(
      codec, [](char c) { return c == ':' || c == ','; }, '/');
  return codec;
}

std::string cser(const std::string& c1, const std::string& c2, std::uint64_t period, const std::string& more = "") {
  return "cser:c1=" + nested(c1) + ",c2=" + nested(c2) + ",period=" + std::to_string(period) + more;
}

tiny_world run(const std::string& algorithm, quadratics& problem, tiny_world::options o = {}) {
  if (o.optimiser == "sgd")
    o.optimiser = nesterov;
  if (o.workers == 4)
    o.workers = workers;
  if (o.steps == 10)
    o.steps = steps;
  o.lr = 0.05;
  return {o, runs(algorithm, problem.start()), problem.gradients()};
}

/// Returns the largest difference between the models of two runs, worker by worker.
double difference(const std::string& a, const std::string& b, const char* codec_b = "identity") {
  quadratics problem{workers, size, 0.3f};
  auto first = run(a, problem), second = run(b, problem, {.codec = codec_b});
  EXPECT_TRUE(first.run() && second.run());
  double largest = 0;
  for (rank i = 0; i < workers; ++i)
    for (std::size_t k = 0; k < size; ++k)
      largest =
          std::max(largest, std::abs(static_cast<double>(first.model(i)[k]) - static_cast<double>(second.model(i)[k])));
  return largest;
}

dense_cser dense(const quadratics& problem) {
  return {workers, size, 0.05, 0.9, [&](std::size_t i, std::uint64_t t, const std::vector<double>& x) {
            const auto g = problem.gradient(i, t, std::vector<float>(x.begin(), x.end()));
            return std::vector<double>(g.begin(), g.end());
          }};
}

void expect_equal(const tiny_world& world, const dense_cser& reference, const std::string& what) {
  for (rank i = 0; i < workers; ++i)
    for (std::size_t k = 0; k < size; ++k)
      ASSERT_NEAR(world.model(i)[k], reference.x[i][k], 1e-4) << what << ", worker " << i << ", element " << k;
}

constexpr std::array codecs_of_all_kinds{"grbs:ratio=4", "top-k:k=5", "random-k:k=5,scale=none",
                                         "scaled-sign",  "qsgd",      "identity"};

TEST(cser_tests, does_what_plain_loops_do_whatever_the_codecs) {
  for (const std::string c1 : codecs_of_all_kinds)
    for (const std::string c2 : {"grbs:ratio=8", "top-k:k=4", "none"})
      for (const std::uint64_t period : {1u, 3u, 8u}) {
        quadratics problem{workers, size, 0.3f};
        const auto spec = cser(c1, c2, period);
        auto world = run(spec, problem);
        ASSERT_TRUE(world.run());
        auto reference = dense(problem);
        for (std::uint64_t t = 0; t < steps; ++t)
          reference.cser(t, dense_cser::make(c1), dense_cser::make(c2), period);
        ASSERT_NO_FATAL_FAILURE(expect_equal(world, reference, spec));
      }
}

TEST(cser_tests, as_released_does_what_plain_loops_do) {
  quadratics problem{workers, size, 0.3f};
  auto world = run(cser("grbs:ratio=2", "grbs:ratio=8", 4, ",implementation=model-blocks"), problem);
  ASSERT_TRUE(world.run());
  auto reference = dense(problem);
  for (std::uint64_t t = 0; t < steps; ++t)
    reference.model_blocks(t, dense_cser::make("grbs:ratio=2"), dense_cser::make("grbs:ratio=8"), 4);
  expect_equal(world, reference, "model-blocks");
}

/// Returns s and e from a worker's state.
std::pair<vec, vec> common_and_error(tiny_world& world, rank i) {
  std::pair<vec, vec> fields;
  const auto bytes = world.worker(i).state();
  archive_reader reader{bytes, buffer_pool{}};
  reader(fields.first)(fields.second);
  return fields;
}

// Lemma 1: x_i - e_i is the same for all workers. The mean of the models moves by the mean of the updates only.
TEST(cser_tests, keeps_lemma_1_to_the_bit_and_the_mean_in_every_step) {
  for (const std::string codec : codecs_of_all_kinds)
    for (const std::uint64_t period : {1u, 3u, 8u})
      for (std::uint64_t until = 1; until <= 17; ++until) {
        quadratics problem{workers, size, 0.3f};
        std::vector<double> applied(size);
        tiny_world world{{.topology = "ring", .optimiser = "sgd", .workers = workers, .steps = until},
                         runs(cser(codec, codec, period), problem.start()),
                         [&, g = problem.gradients()](rank i, std::uint64_t t, const vec& x) {
                           auto gradient = g(i, t, x);
                           for (std::size_t k = 0; k < size; ++k)
                             applied[k] -= 0.1 * static_cast<double>(gradient[k]);
                           return gradient;
                         }};
        ASSERT_TRUE(world.run());
        for (rank i = 0; i < workers; ++i) {
          const auto [common, error] = common_and_error(world, i);
          ASSERT_EQ(common, common_and_error(world, 0).first) << codec << " step " << until;
          ASSERT_EQ(world.model(i), common + error);
        }
        const auto sum = world.sum_of_models();
        for (std::size_t k = 0; k < size; ++k)
          ASSERT_NEAR(sum[k], applied[k], 2e-5 * (1 + std::abs(applied[k]))) << codec << " step " << until;
      }
}

TEST(cser_tests, of_exact_codecs_is_all_reduce_sgd) {
  EXPECT_LT(difference(cser("identity", "identity", 3), "all-reduce-sgd"), 2e-5);
  EXPECT_LT(difference(cser("top-k:k=3", "identity", 3), "all-reduce-sgd"), 2e-5) << "nothing is left to reset";
  EXPECT_LT(difference("m-cser:c1=identity,c2=identity", "all-reduce-sgd"), 2e-5) << "with Nesterov's momentum";
  EXPECT_GT(difference(cser("identity", "none", 5), "all-reduce-sgd"), 1e-3) << "three steps after the last reset";
}

TEST(cser_tests, without_c2_and_with_an_exact_c1_is_local_sgd) {
  EXPECT_LT(difference(cser("identity", "none", 4), "local-sgd:period=4"), 2e-5);
  EXPECT_LT(difference("cser-pl:c1=identity,period=4", "local-sgd:period=4"), 2e-5);
}

TEST(cser_tests, has_its_special_cases_under_their_own_names) {
  EXPECT_EQ(difference("csea:c1=top-k/k=6", cser("top-k:k=6", "none", 1)), 0);
  EXPECT_EQ(difference("cser-pl:c1=grbs/ratio=4,period=5", cser("grbs:ratio=4", "none", 5)), 0);
  EXPECT_EQ(difference("m-cser", "cser"), 0) << "as long as the optimiser is the same";
}

TEST(cser_tests, needs_no_errors_where_codecs_are_linear) {
  for (const std::uint64_t period : {1u, 3u, 8u})
    for (const char* c2 : {"grbs:ratio=8", "none", "identity"})
      EXPECT_LT(difference(cser("grbs:ratio=4", c2, period), cser("grbs:ratio=4", c2, period, ",implementation=model")),
                2e-5);
  EXPECT_GT(difference(cser("grbs:ratio=4", "grbs:ratio=8", 3),
                       cser("grbs:ratio=4", "grbs:ratio=8", 3, ",implementation=model-blocks")),
            1e-3);
}

// The expected bits per step, averaged over H steps, are 2 (n - 1) / n * 32 d (1 / R_C2 + 1 / (H R_C1)).
TEST(cser_tests, sends_what_its_ratio_promises) {
  constexpr std::size_t length = 1024, n = 4;
  constexpr std::uint64_t period = 8, rounds = 3;
  const auto bits = [&](const std::string& algorithm, const char* codec = "identity") {
    quadratics problem{n, length};
    tiny_world world{{.topology = "ring", .codec = codec, .workers = n, .steps = rounds * period, .lr = 0.05},
                     runs(algorithm, problem.start()),
                     problem.gradients()};
    EXPECT_TRUE(world.run());
    for (rank i = 1; i < n; ++i)
      EXPECT_EQ(world.sent(i).payload_bits, world.sent(0).payload_bits);
    return static_cast<double>(world.sent(0).payload_bits) / (rounds * period);
  };
  const double everything = 2.0 * (n - 1) / n * 32 * length;
  EXPECT_EQ(bits("all-reduce-sgd"), everything);
  EXPECT_EQ(bits(cser("grbs:ratio=4", "grbs:ratio=32", period)), everything * (1.0 / 32 + 1.0 / (4 * period)));
  EXPECT_EQ(bits(cser("grbs:ratio=4", "grbs:ratio=32", period, ",implementation=model")), everything / 16);
  EXPECT_EQ(bits(cser("grbs:ratio=4", "grbs:ratio=32", period, ",implementation=model-blocks")),
            everything * ((period - 1) / 32.0 + 1.0 / 4) / period);
  EXPECT_EQ(bits("csea:c1=grbs/ratio=16"), everything / 16);
  EXPECT_EQ(bits("cser-pl:c1=grbs/ratio=2,period=8"), everything / 16);
  EXPECT_EQ(bits("local-sgd:period=8"), everything / 8);
  EXPECT_EQ(bits("qsparse-local-sgd:period=8", "grbs:ratio=4"), everything / 32);
  EXPECT_EQ(bits("ef-sgd", "grbs:ratio=64"), everything / 64);
  EXPECT_EQ(bits("ef-sgd", "scaled-sign"), (n - 1.0) * (length + 32)) << "packets that cannot be added up go round";
}

// On a shared Hessian the mean of CSER's models is exactly SGD's model, at any ratio.
TEST(cser_tests, learns_as_sgd_does_at_a_ratio_at_which_error_feedback_diverges) {
  constexpr std::size_t length = 512, n = 8;
  const auto end = [&](const std::string& algorithm, const char* codec = "identity") {
    quadratics problem{n, length, 0.1f};
    tiny_world world{{.topology = "ring", .codec = codec, .optimiser = nesterov, .workers = n, .steps = 600, .lr = 0.1},
                     runs(algorithm, problem.start()),
                     problem.gradients()};
    EXPECT_TRUE(world.run());
    auto mean = world.sum_of_models();
    for (auto& m : mean)
      m /= n;
    return std::pair{problem.gap(mean), mean};
  };
  const double start_gap = quadratics{n, length}.gap(std::vector<double>(length));
  const auto [sgd_gap, sgd] = end("all-reduce-sgd");
  const auto [cser_gap, model] = end(cser("grbs:ratio=8", "grbs:ratio=512", 64)); // RC = 256
  double distance = 0;
  for (std::size_t k = 0; k < length; ++k)
    distance = std::max(distance, std::abs(model[k] - sgd[k]));
  EXPECT_LT(distance, 1e-4);
  EXPECT_LT(sgd_gap, 0.01 * start_gap);
  EXPECT_NEAR(cser_gap, sgd_gap, 0.01 * sgd_gap);
  EXPECT_GT(end("ef-sgd", "grbs:ratio=256").first, 100 * start_gap);
}

TEST(cser_tests, says_what_its_codecs_lack) {
  const auto complaint = [](const std::string& algorithm, const char* codec = "auto") -> std::string {
    run_settings s;
    s.algorithm = algorithm;
    s.codec = codec;
    s.model = "quadratic";
    s.data = "quadratic:samples=24,dim=3";
    s.batch = 1;
    s.steps = 1;
    try {
      prepare(s);
      return "";
    } catch (const error& e) {
      return e.what();
    }
  };
  using testing::AllOf;
  using testing::HasSubstr;
  EXPECT_THAT(complaint("cser:c1=top-k,implementation=model"),
              AllOf(HasSubstr("c1 of implementation=model"), HasSubstr("linear"), HasSubstr("grbs")));
  EXPECT_THAT(complaint("cser:c2=scaled-sign,implementation=model-blocks"), HasSubstr("c2 of implementation"));
  EXPECT_THAT(complaint("cser", "qsgd"), AllOf(HasSubstr("exact"), HasSubstr("identity")));
  EXPECT_THAT(complaint("cser:c1=grps"), HasSubstr("grbs"));
  EXPECT_THAT(complaint("csea:c1=grbs/ratio=0.5"), HasSubstr("ratio"));
  EXPECT_THAT(complaint("csea:period=2"), HasSubstr("period"));
  EXPECT_EQ(complaint("cser:c1=none,c2=identity"), "");
  EXPECT_THAT(complaint("cser:c1=none,c2=none"), HasSubstr("would never exchange anything"));
}

TEST(m_cser, brings_nesterov_momentum_unless_told_otherwise) {
  run_settings s;
  s.model = "quadratic";
  s.data = "quadratic:samples=24,dim=3";
  s.batch = 1;
  s.algorithm = "m-cser";
  EXPECT_EQ(prepare(s)->settings.optimiser, "nesterov:beta=0.9");
  s.algorithm = "cser";
  EXPECT_EQ(prepare(s)->settings.optimiser, "momentum:beta=0.9");
  s.algorithm = "m-cser";
  s.optimiser = "sgd";
  EXPECT_EQ(prepare(s)->settings.optimiser, "sgd");
}

} // namespace
} // namespace gossamer::actors
