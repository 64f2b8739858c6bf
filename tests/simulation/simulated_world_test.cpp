#include "gossamer/actors/real_time/local_world.hpp"
#include "gossamer/actors/simulated/simulated_world.hpp"
#include "gossamer/base/error.hpp"

#include <gmock/gmock.h>

#include <cmath>

#include "quadratic_run.hpp"
#include "support/marks.hpp"
#include "trace_rules.hpp"

namespace gossamer::actors {
namespace {

using testing::HasSubstr;
using testing_support::quadratic_run;

simulation_settings with_network(const std::string& network, double sample_time_s = 1e-4) {
  simulation_settings s;
  s.network = network;
  s.sample_time_s = sample_time_s;
  s.cost = {}; // so that times are those of the formulas below
  return s;
}

/// Returns the bits of a frame with this number of floats, early in a run.
double frame_bits(double elements) {
  frame f{.sequence = 1, .label = {frame_kind::model, 1, 1}, .body = {}};
  f.body.elements = static_cast<std::uint64_t>(elements);
  f.body.bits = 32 * f.body.elements;
  return 8 * static_cast<double>(f.wire_bytes()) + 32 * elements;
}

// Section 10.1 of the comparison of networks: an all-reduce takes 2 (n - 1) (latency + S / (n B)), a gossip round on a
// ring latency + 2 S / B. Times end with the last step.
TEST(simulated_time, of_all_reduce_is_the_textbook_formula) {
  constexpr std::size_t n = 5, steps = 7;
  const auto result =
      simulate(prepare(quadratic_run("all-reduce-sgd", n, steps)), with_network("uniform:latency=0.003,bandwidth=1e7"));
  const double hop = 0.003 + frame_bits(1000.0 / n) / 1e7;
  EXPECT_NEAR(result.summary.final.time_s, steps * (10 * 1e-4 + 2 * (n - 1) * hop), 1e-6);
}

// The same bytes in 2 hops: what meets at a member comes from one other at a time.
TEST(simulated_time, of_direct_means_waits_for_two_hops) {
  constexpr std::size_t n = 5, steps = 7;
  for (const char* algorithm : {"all-reduce-sgd:collective=direct", "quantised-sgd:mean=owners"}) {
    auto settings = quadratic_run(algorithm, n, steps);
    settings.codec = "identity";
    const auto result = simulate(prepare(settings), with_network("uniform:latency=0.003,bandwidth=1e7"));
    const double phase = 0.003 + (n - 1) * frame_bits(1000.0 / n) / 1e7;
    EXPECT_NEAR(result.summary.final.time_s, steps * (10 * 1e-4 + 2 * phase), 1e-6) << algorithm;
  }
}

TEST(simulated_time, of_gossip_overlaps_gradients_and_messages) {
  constexpr std::size_t steps = 7;
  const auto run = prepare(quadratic_run("d-psgd", 6, steps));
  const double messages = 0.003 + 2 * frame_bits(1000) / 1e7;
  const auto slow_network = simulate(run, with_network("uniform:latency=0.003,bandwidth=1e7"));
  EXPECT_NEAR(slow_network.summary.final.time_s, steps * messages, 1e-6);
  const auto slow_gradients = simulate(run, with_network("uniform:latency=0.003,bandwidth=1e7", 1e-2));
  EXPECT_NEAR(slow_gradients.summary.final.time_s, steps * 10 * 1e-2, 1e-6);
}

// The law of section 6.3: a slow worker multiplies synchronous time by s, and AD-PSGD's by n / (n - 1 + 1 / s).
TEST(simulated_time, grows_with_a_slow_worker_only_where_all_wait_for_it) {
  constexpr std::size_t n = 16;
  const auto time_of = [&](const std::string& algorithm, double slow) {
    auto s = quadratic_run(algorithm, n, algorithm == "ad-psgd" ? 4000 : 50); // the end waits for the last gradient
    s.data = "quadratic:samples=400,dim=10";
    s.slow[3] = slow;
    return simulate(prepare(s), with_network("tang-best", 1e-3)).summary.final.time_s;
  };
  for (const double slow : {2.0, 10.0, 100.0}) {
    EXPECT_NEAR(time_of("all-reduce-sgd", slow) / time_of("all-reduce-sgd", 1), slow, 0.3 * slow);
    EXPECT_NEAR(time_of("d-psgd", slow) / time_of("d-psgd", 1), slow, 0.01 * slow);
    EXPECT_NEAR(time_of("ad-psgd", slow) / time_of("ad-psgd", 1), n / (n - 1 + 1 / slow), 0.03);
  }
}

// The worlds differ in time alone if no message can overtake another.
TEST(simulated_world, learns_to_the_bit_what_the_local_world_learns) {
  for (const char* algorithm : {"all-reduce-sgd", "d-psgd"})
    for (const char* codec : {"identity", "uniform:bits=4"}) {
      auto s = quadratic_run(algorithm, 4, 50);
      s.model = "mlp:hidden=10";
      s.data = "digits:samples=500,test=100";
      if (std::string_view{algorithm} == "d-psgd")
        s.codec = codec;
      const auto e = prepare(s);
      const auto real = run_locally(e).final;
      const auto simulated = simulate(e, with_network("wan")).summary.final;
      EXPECT_EQ(simulated.train_loss, real.train_loss) << algorithm << ' ' << codec;
      EXPECT_EQ(simulated.consensus_distance, real.consensus_distance) << algorithm << ' ' << codec;
      EXPECT_EQ(simulated.payload_bits, real.payload_bits) << algorithm << ' ' << codec;
      EXPECT_EQ(simulated.wire_bits, real.wire_bits) << algorithm << ' ' << codec;
    }
}

TEST(simulated_world, lets_workers_come_and_leave_as_a_plan_says) {
  for (const char* algorithm : {"cser", "ad-psgd", "asy-lpg"}) {
    SCOPED_TRACE(algorithm);
    auto settings = quadratic_run(algorithm, 4, 400);
    settings.max_workers = 6;
    const auto run = prepare(settings);
    simulation_settings quick;
    quick.detection_s = 1e-3;
    const double t = simulate(run, quick).summary.final.time_s / 20;
    run_surroundings around;
    around.faults.faults = {{.kind = fault_kind::join, .workers = {4, 5}, .at_s = t},
                            {.kind = fault_kind::join, .workers = {1}, .at_s = 2 * t}, // worker 1 is there already
                            {.kind = fault_kind::leave, .workers = {2}, .at_s = 3 * t, .lasts_s = 2 * t},
                            {.kind = fault_kind::leave, .workers = {0, 3}, .at_s = 6 * t},
                            {.kind = fault_kind::kill, .workers = {4}, .at_s = 8 * t},
                            {.kind = fault_kind::join, .workers = {4}, .at_s = 8 * t + 0.5 * quick.detection_s}};
    const auto summary = simulate(run, quick, around).summary;
    EXPECT_EQ(summary.end, run_end::planned);
    EXPECT_EQ(summary.lost, 1u) << "who leaves is not lost";
    EXPECT_EQ(summary.returned, 4u);
    EXPECT_EQ(summary.unfinished, 0u);
  }
}

// Fragments leave in steps 5, 11, 17 and 23, and come two steps later: the last one would after the end.
TEST(simulated_world, ends_whenever_a_worker_comes_while_a_fragment_is_under_way) {
  auto settings = quadratic_run("streaming-diloco:period=6,overlap=2", 3, 25);
  settings.max_workers = 4;
  const auto run = prepare(settings);
  auto uneven = with_network("uniform:latency=1e-5,bandwidth=1e9", 2e-5);
  uneven.jitter = "exponential";
  const double end_s = simulate(run, uneven).summary.final.time_s;
  for (int k = 150; k < 200; ++k) {
    run_surroundings around;
    around.faults.faults = {{.kind = fault_kind::join, .workers = {3}, .at_s = 0.005 * k * end_s}};
    EXPECT_EQ(simulate(run, uneven, around).summary.unfinished, 0u) << k;
  }
}

TEST(simulated_world, says_who_waits_for_whom_when_a_partition_never_heals) {
  run_surroundings around;
  around.faults.faults.push_back({.kind = fault_kind::partition, .workers = {0}, .at_s = 0.01});
  auto s = with_network("tang-best");
  s.patience_s = 20;
  try {
    simulate(prepare(quadratic_run("d-psgd", 4, 100)), s, around);
    FAIL();
  } catch (const error& hang) {
    EXPECT_THAT(hang.what(), HasSubstr("no step since"));
    EXPECT_THAT(hang.what(), HasSubstr("worker 1 waits for model"));
    EXPECT_THAT(hang.what(), HasSubstr("of worker 0"));
  }
}

TEST(simulated_world, ends_a_run_that_is_stopped_though_a_partition_never_heals) {
  run_surroundings around;
  around.faults.faults.push_back({.kind = fault_kind::partition, .workers = {0}, .at_s = 0.01});
  for (const char* algorithm : {"d-psgd", "all-reduce-sgd", "ad-psgd"}) {
    auto settings = quadratic_run(algorithm, 4, 100);
    settings.steps.reset();
    settings.seconds = 3;
    const auto summary = simulate(prepare(settings), with_network("tang-best"), around).summary;
    EXPECT_EQ(summary.end, run_end::seconds) << algorithm;
    EXPECT_GT(summary.unfinished, 0u) << algorithm;
    EXPECT_NEAR(summary.final.time_s, 13, 0.3) << algorithm;
  }
}

/// Sends every frame twice, and counts it once.
struct double_link final : link {
  explicit double_link(std::unique_ptr<link> inner) : inner_(std::move(inner)) {}
  void send(frame f) override {
    inner_->send(f);
    inner_->send(std::move(f));
  }
  std::unique_ptr<link> inner_;
};

TEST(simulated_world, notices_traffic_that_is_not_in_the_ledger) {
  run_surroundings around;
  around.wrap_link = [](rank, rank, std::unique_ptr<link> inner) {
    return std::make_unique<double_link>(std::move(inner));
  };
  EXPECT_THROW(
      try {
        simulate(prepare(quadratic_run("d-psgd", 4, 20)), with_network("tang-best"), around);
      } catch (const error& broken) {
        EXPECT_THAT(broken.what(), HasSubstr("the ledger of worker"));
        throw;
      },
      error);
}

// A worker has peers near and far, so that alarms for the near ones come before those for the far ones.
TEST(simulated_world, looks_for_frames_to_repeat_no_more_often_the_longer_a_run_takes) {
  auto world = with_network("uniform:latency=0.001,bandwidth=1e9");
  world.links = "0-1:latency=0.2;2-3:latency=0.2";
  const auto events_of = [&](std::uint64_t steps) {
    const auto run = prepare(quadratic_run("ad-psgd:in-flight=4", 4, steps));
    const fault nearly_none{.kind = fault_kind::drop, .lasts_s = 1e-9, .rate = 0.01};
    return static_cast<double>(simulate(run, world, {.faults = {{nearly_none}}}).events);
  };
  EXPECT_LT(events_of(20'000), 4.4 * events_of(5'000));
}

TEST(simulated_world, pauses_delay_but_lose_nothing) {
  const auto e = prepare(quadratic_run("d-psgd", 4, 100));
  run_surroundings around;
  around.faults.faults.push_back({.kind = fault_kind::pause, .workers = {1, 2}, .at_s = 0.02, .lasts_s = 3.0});
  const auto calm = simulate(e, with_network("tang-best"));
  const auto paused = simulate(e, with_network("tang-best"), around);
  EXPECT_GT(paused.summary.final.time_s, calm.summary.final.time_s + 2.9);
  EXPECT_EQ(paused.summary.final.train_loss, calm.summary.final.train_loss);
}

TEST(simulated_world, strikes_at_a_step_when_the_plan_says_so) {
  struct events final : run_observer {
    void on_event(const event_record& r) override {
      if (r.what.find("is lost") != std::string::npos)
        lost_at = r.time_s;
    }
    double lost_at = 0;
  } seen;
  run_surroundings around{.observer = &seen};
  around.faults.faults.push_back({.kind = fault_kind::kill, .workers = {2}, .at_step = 30});
  auto s = with_network("ideal");
  s.detection_s = 0.5;
  const auto result = simulate(prepare(quadratic_run("d-psgd", 4, 100)), s, around);
  EXPECT_EQ(result.summary.lost, 1u);
  EXPECT_EQ(result.summary.steps_per_worker[2], 30u);
  EXPECT_EQ(result.summary.steps_per_worker[1], 100u);
  EXPECT_NEAR(seen.lost_at, 30 * 10 * 1e-4 + 0.5, 2e-3);
}

TEST(simulated_world, draws_a_trace_that_keeps_the_rules_of_its_format) {
  auto s = with_network("tang-latency");
  run_surroundings around;
  around.faults.faults.push_back({.kind = fault_kind::kill, .workers = {2}, .at_s = 0.01, .lasts_s = 0.15});
  around.faults.faults.push_back({.kind = fault_kind::drop, .at_s = 0.02, .lasts_s = 0.02, .rate = 0.3});
  for (const char* algorithm : {"ad-psgd", "d-psgd", "all-reduce-sgd", "async-diloco:grace=0.01"}) {
    s.trace = std::make_shared<trace_recorder>();
    simulate(prepare(quadratic_run(algorithm, 4, 300)), s, around);
    std::FILE* file = std::tmpfile();
    s.trace->write(file);
    std::string text(static_cast<std::size_t>(std::ftell(file)), '\0');
    std::rewind(file);
    ASSERT_EQ(std::fread(text.data(), 1, text.size(), file), text.size());
    std::fclose(file);
    EXPECT_THAT(support::trace_rules::problems(text), testing::IsEmpty()) << algorithm;
    EXPECT_EQ(text.find("pauses") != std::string::npos, std::string_view{algorithm}.starts_with("async-diloco"));
    for (const char* part : {"worker 2", "compute 2", "0 -> ", "worker 2 is dead", "gradient", "training loss"})
      EXPECT_NE(text.find(part), std::string::npos) << algorithm << " draws no " << part;
  }
}

TEST(simulated_world, blames_the_slow_worker) {
  auto settings = quadratic_run("d-psgd", 6, 50);
  settings.slow[3] = 10;
  const auto result = simulate(prepare(settings), with_network("tang-best"));
  const auto text = result.blame.to_text(1);
  EXPECT_THAT(text, HasSubstr("3")) << text;
}

TEST(simulated_world, computes_as_many_gradients_whoever_is_lost_or_comes) {
  for (const char* algorithm : {"d-psgd", "all-reduce-sgd"}) { // the first finishes rounds, the second repeats them
    auto settings = quadratic_run(algorithm, 8, 0);
    settings.steps.reset();
    settings.epochs = 20;
    settings.max_workers = 12;
    const auto e = prepare(settings);
    const auto s = with_network("tang-best");
    const auto calm = simulate(e, s).summary;
    EXPECT_EQ(calm.final.step, e->planned_updates) << algorithm;
    const auto half = calm.final.time_s / 2;
    const double step = 12; // the rounding, and a view begins a step after the last step of the lost
    const auto disturbed = [&](const fault& f) {
      run_surroundings around;
      around.faults.faults.push_back(f);
      return simulate(e, s, around).summary;
    };
    const auto fewer = disturbed({.kind = fault_kind::kill, .workers = {1, 5, 6}, .at_s = half});
    EXPECT_NEAR(static_cast<double>(fewer.final.step), static_cast<double>(e->planned_updates), step) << algorithm;
    EXPECT_GT(fewer.steps_per_worker[0], e->steps_per_worker) << algorithm;
    const auto more = disturbed({.kind = fault_kind::join, .workers = {8, 9, 10, 11}, .at_s = half});
    EXPECT_NEAR(static_cast<double>(more.final.step), static_cast<double>(e->planned_updates), step) << algorithm;
    EXPECT_LT(more.steps_per_worker[0], e->steps_per_worker) << algorithm;
  }
}

TEST(simulated_world, counts_the_gradients_that_die_with_a_worker) {
  constexpr double gradient_s = 10 * 1e-4;
  const auto lost = [&](const std::string& algorithm, double gradients) {
    run_surroundings around;
    around.faults.faults.push_back(
        {.kind = fault_kind::kill, .workers = {1}, .at_s = gradients * gradient_s, .lasts_s = 0.05});
    return simulate(prepare(quadratic_run(algorithm, 4, 100)), with_network("ideal"), around).gradients_lost;
  };
  EXPECT_EQ(lost("diloco:period=10", 27.5), 7u) << "of a round of ten";
  EXPECT_EQ(lost("async-diloco:period=10", 27.5), 7u);
  EXPECT_EQ(lost("diloco:period=10", 30.5), 0u) << "all are shared";
  EXPECT_EQ(lost("all-reduce-sgd", 27.5), 0u);
  EXPECT_EQ(simulate(prepare(quadratic_run("diloco:period=30", 4, 100)), with_network("ideal")).gradients_lost, 0u)
      << "nobody dies";
}

TEST(simulated_world, loses_no_gradients_with_a_worker_that_leaves) {
  constexpr double gradient_s = 10 * 1e-4;
  run_surroundings around;
  around.faults.faults.push_back({.kind = fault_kind::leave, .workers = {1}, .at_s = 25.5 * gradient_s});
  for (const char* algorithm :
       {"diloco:period=10", "streaming-diloco:period=10", "noloco:period=10", "sparse-loco:period=10",
        "async-diloco:period=10", "async-diloco:period=10,quorum=4", "async-diloco:period=10,grace=0.01",
        "decoupled-diloco:period=10", "decoupled-diloco:period=10,anchor=read,quorum=4"}) {
    const auto result = simulate(prepare(quadratic_run(algorithm, 4, 100)), with_network("ideal"), around);
    EXPECT_EQ(result.gradients_lost, 0u) << algorithm;
    EXPECT_GT(result.summary.views, 0u) << algorithm << ": it has left";
  }
}

TEST(simulated_world, shares_a_network_card_among_the_workers_of_a_node) {
  const auto e = prepare(quadratic_run("d-psgd", 8, 20));
  auto s = with_network("uniform:latency=0.001,bandwidth=1e6", 1e-6);
  const auto apart = simulate(e, s).summary.final.time_s;
  s.workers_per_node = 4; // of 4 workers, only the outer 2 send to another node, one frame each
  const auto together = simulate(e, s).summary.final.time_s;
  EXPECT_NEAR(apart, 20 * (0.001 + 2 * frame_bits(1000) / 1e6), 1e-4);
  EXPECT_NEAR(together, apart, 0.02 * apart) << "two frames share a card either way";
  s.workers_per_node = 8;
  EXPECT_LT(simulate(e, s).summary.final.time_s, 0.01 * apart);
}

/// googletest owns it.
[[maybe_unused]] const auto* const marks = testing::AddGlobalTestEnvironment(
    new testing_support::passes_marks({mark::shunned_frame, mark::frame_of_stranger}));

} // namespace
} // namespace gossamer::actors
