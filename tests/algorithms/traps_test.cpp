// Settings and orders of events in which algorithms have broken their promises, or waited for ever.
#include "gossamer/actors/simulated/simulated_world.hpp"
#include "gossamer/base/error.hpp"
#include "gossamer/testing/spellings.hpp"

#include <gmock/gmock.h>

#include <set>

#include "gossip_problem.hpp"
#include "scratch_folder.hpp"
#include "simulation/quadratic_run.hpp"

namespace gossamer::actors {
namespace {

using testing::Each;
using testing::Gt;
using testing::HasSubstr;
using testing_support::every_spelling;
using testing_support::quadratic_run;
using testing_support::quadratics;
using testing_support::runs;
using testing_support::tiny_world;

TEST(traps, rounds_of_which_nothing_arrives_keep_workers_in_step) {
  for (const char* codec : {"identity", "uniform:bits=4"}) {
    auto s = quadratic_run("diloco:drop=0.9,period=2", 2, 60); // all is lost in four of five rounds
    s.codec = codec;
    s.slow = {{1, 4}};
    EXPECT_NO_THROW(simulate(prepare(s), {})) << "the auditor looks at the steps";
  }
}

TEST(traps, invitations_wait_for_a_view_that_is_entered_later) {
  const test::scratch_folder scratch;
  scratch.write("path.txt", "0 3\n3 2\n2 1\n1 4\n4 5\n5 6\n6 7\n"); // its repair joins workers 1 and 6
  simulation_settings world{.network = "uniform:latency=5ms,bandwidth=10Gb/s", .links = "0-1:latency=0.2"};
  world.sample_time_s = 1e-4;
  world.processes = true;
  run_surroundings around;
  around.faults.faults.push_back({.workers = {5}, .at_s = 1, .processes = true});
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    auto s = quadratic_run("ad-psgd:in-flight=4,owed=1", 8, 1500);
    s.data = "quadratic:samples=400,dim=4";
    s.topology = "file:path=" + scratch.path() + "/path.txt";
    s.seed = seed;
    auto steps = simulate(prepare(s), world, around).summary.steps_per_worker;
    steps.erase(steps.begin() + 5);
    EXPECT_THAT(steps, Each(Gt(700u))) << "seed " << seed;
  }
}

/// Runs with one checkpoint, then goes on from it with other settings.
void simulate_in_two_parts(run_settings first, const run_settings& second) {
  const test::scratch_folder scratch;
  const checkpoint_folder folder{std::filesystem::path{scratch.path()} / "checkpoints"};
  const auto done = *first.steps;
  first.checkpoint.steps = done / 2 + 1;
  simulate(prepare(first), {}, {.checkpoints = folder});
  const auto complain = [](const std::string& what) { ADD_FAILURE() << what; };
  std::filesystem::remove_all(folder.path() / std::to_string(folder.newest(complain).all.checkpoint)); // of the end
  const auto from = std::make_shared<const resumption>(folder.newest(complain));
  ASSERT_LT(from->all.updates(), done * first.workers);
  const auto summary = simulate(prepare(second), {}, {.checkpoints = folder, .from = from}).summary;
  EXPECT_EQ(summary.end, run_end::planned);
}

TEST(traps, an_epoch_of_variance_reduction_may_be_over_when_minibatches_grow) {
  for (const char* algorithm : {"asy-lpg", "asy-fpg", "acc-asy-lpg", "sparse-asy-lpg", "halp"}) {
    SCOPED_TRACE(algorithm);
    auto s = quadratic_run(algorithm, 4, 40), larger = s;
    s.batch = 2; // 200 updates in an epoch, then 2
    larger.batch = 200;
    larger.steps = 60;
    simulate_in_two_parts(s, larger);
  }
}

TEST(traps, shares_on_edges_that_are_there_no_more_go_back_to_their_senders) {
  auto s = quadratic_run("sgp:graph=topology,overlap=2", 5, 41), ring = s;
  s.topology = "star";
  ring.topology = "ring";
  ring.steps = 80;
  simulate_in_two_parts(s, ring); // the auditor adds up models and weights
}

TEST(traps, rates_before_a_worker_comes_back_are_those_of_all) {
  for (int ms = 1; ms <= 30; ++ms) {
    auto s = quadratic_run("zero-one-adam:warm-up=20,double-after=8,max-period=16", 4, 150);
    s.schedule = "cosine";
    s.optimiser = "auto";
    run_surroundings around;
    around.faults.faults.push_back({.workers = {3}, .at_step = 60, .lasts_s = 1e-3 * ms});
    EXPECT_NO_THROW(simulate(prepare(s), {.detection_s = 0.001}, around)) << ms << " ms";
  }
}

TEST(traps, settings_under_which_nothing_is_exchanged_for_long_are_refused) {
  auto s = quadratic_run("zero-one-adam:max-period=1e12", 2, 10);
  s.optimiser = "auto";
  EXPECT_THROW(prepare(s), error);
  s.algorithm = "zero-one-adam:double-after=1,max-period=65536";
  EXPECT_NO_THROW(prepare(s));
}

/// Simulates a few steps of a model of two tensors, with a codec that keeps bands of each. Exact where it has to be.
void simulate_with_bands_of_tensors(const std::string& algorithm) {
  const auto& traits = algorithms().resolve(algorithm).first.traits;
  run_settings s;
  s.algorithm = algorithm;
  s.codec = traits.needs == codec_need::any ? "grbs:layout=tensor,ratio=4" : "grbs:layout=tensor,ratio=1";
  s.data = "digits:samples=200,test=50";
  s.model = "softmax";
  s.workers = 4;
  s.steps = 12;
  s.lr = 1e-3;
  simulate(prepare(s), {});
}

TEST(traps, codecs_of_whole_vectors_get_no_parts_of_them) {
  auto specs = every_spelling();
  for (const char* spec : {"parameter-server-sgd:shards=2", "async-sgd:shards=2", "zero-one-adam:warm-up=4",
                           "decoupled-diloco:fragments=1"})
    specs.emplace_back(spec);
  std::set<std::string> refused;
  for (const auto& spec : specs) {
    SCOPED_TRACE(spec);
    try {
      simulate_with_bands_of_tensors(spec);
    } catch (const error& e) {
      EXPECT_EQ(e.code(), errc::usage);
      EXPECT_THAT(e.sentence(),
                  HasSubstr(" packs parts of the vector, and 'grbs:layout=tensor,ratio=4' needs it whole"));
      refused.insert(spec);
    }
  }
  for (const char* spec : {"diloco", "streaming-diloco", "decoupled-diloco", "quantised-sgd", "one-bit-adam",
                           "zero-one-adam:warm-up=4", "parameter-server-sgd:shards=2", "async-sgd:shards=2"})
    EXPECT_TRUE(refused.contains(spec)) << spec;
  for (const char* spec : {"decoupled-diloco:fragments=1", "quantised-sgd:mean=gathered", "parameter-server-sgd",
                           "async-sgd", "d-psgd", "cser"})
    EXPECT_FALSE(refused.contains(spec)) << spec;
}

/// The algorithm of worker 0 with the state that it had when step t began.
std::unique_ptr<algorithm> at_step(const std::string& spec_text, std::uint64_t t, quadratics& p) {
  tiny_world world{{.workers = 3, .steps = 8, .keep_states_at = t}, runs(spec_text, p.start()), p.gradients()};
  EXPECT_TRUE(world.run());
  auto result = runs(spec_text, p.start())(0);
  archive_reader state{*world.kept_states().at(0), p.start().pool()};
  result->fields(state);
  return result;
}

TEST(traps, a_worker_that_comes_within_a_round_leaves_the_steps_of_its_donor_to_it) {
  for (const std::string name : {"sign-sgd", "ef-sign-sgd", "ssdm", "cascading-ssdm", "marsit"}) {
    SCOPED_TRACE(name);
    quadratics p{3, 24, 0.3f};
    const auto form = name + ":local-steps=4";
    tiny_world world{{.workers = 3}, runs(form, p.start()), p.gradients()};
    const auto began = at_step(form, 4, p), within = at_step(form, 6, p);
    const auto values = [](const algorithm& a) {
      return std::vector<float>(a.model().view().begin(), a.model().view().end());
    };
    EXPECT_NE(values(*within), values(*began));
    within->inherit(world.worker(0));
    EXPECT_EQ(values(*within), values(*began));
    began->inherit(world.worker(0)); // no step has been taken yet
    EXPECT_EQ(values(*began), values(*at_step(form, 4, p)));
  }
}

} // namespace
} // namespace gossamer::actors
