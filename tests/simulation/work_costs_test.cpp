#include "gossamer/actors/simulated/simulated_world.hpp"
#include "gossamer/actors/simulation/standstill.hpp"
#include "gossamer/actors/simulation/work_costs.hpp"

#include <gmock/gmock.h>

#include <cstdio>
#include <fstream>
#include <sstream>

#include "expect.hpp"
#include "quadratic_run.hpp"

namespace gossamer::actors {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing_support::quadratic_run;
using testing_support::refusal;

simulation_settings with_costs(const work_costs& cost, const std::string& network = "ideal", double sample_s = 0) {
  simulation_settings s;
  s.network = network;
  s.sample_time_s = sample_s;
  s.cost = cost;
  return s;
}

double seconds_of(const time_use& t, activity what) { return 1e-9 * static_cast<double>(t.of(what)); }

// -- the file ---------------------------------------------------------------------------------------------------------

/// A file that is removed with the object.
struct scratch_file {
  explicit scratch_file(const std::string& name) : path(testing::TempDir() + name) {}
  scratch_file(const scratch_file&) = delete;
  scratch_file& operator=(const scratch_file&) = delete;
  ~scratch_file() { std::remove(path.c_str()); }

  std::string path;
};

work_costs read(const std::string& text) {
  const scratch_file file{"gossamer_costs.toml"};
  std::ofstream{file.path} << text;
  return read_costs(file.path);
}

std::string refusal_of(const std::string& text) {
  return refusal([&] { read(text); });
}

TEST(cost_file, says_the_same_costs_again) {
  auto costs = default_costs();
  costs.frame = 0.1 + 0.2;
  costs.codecs["sign"] = {1e-7, 1e9};
  EXPECT_EQ(read(to_toml(costs)), costs);
}

TEST(cost_file, may_leave_out_what_costs_as_by_default) {
  auto costs = default_costs();
  costs.frame = 2000;
  costs.codecs["uniform"].decode_byte = 7;
  EXPECT_EQ(read("frame = 2000\n[decode-byte]\nuniform = 7\n"), costs);
}

TEST(cost_file, is_refused_with_file_and_line) {
  EXPECT_THAT(refusal_of("\nframes = 2"), AllOf(HasSubstr("costs.toml:2"), HasSubstr("did you mean 'frame'")));
  EXPECT_THAT(refusal_of("frame = -1"), AllOf(HasSubstr("costs.toml:1: frame is no cost"), HasSubstr("0 to 1e9")));
  EXPECT_THAT(refusal_of("frame = nan"), HasSubstr("frame is no cost"));
  EXPECT_THAT(refusal_of("frame = 1e10"), HasSubstr("frame is no cost"));
  EXPECT_THAT(refusal_of("frame = 'much'"), HasSubstr("frame is no cost"));
  EXPECT_THAT(refusal_of("encode-byte = 1"), HasSubstr("encode-byte is no table"));
  EXPECT_THAT(refusal_of("[encode-byte]\nunifrom = 1"), AllOf(HasSubstr("costs.toml:2"), HasSubstr("'uniform'")));
  EXPECT_THAT(refusal_of("frame = = 1"), HasSubstr("costs.toml:1"));
  EXPECT_THAT(refusal([] { read_costs("/no/such/file"); }, errc::io),
              AllOf(HasSubstr("/no/such/file"), HasSubstr("default, none, measured")));
}

TEST(default_costs, are_known_for_every_codec) {
  for (const auto& codec : compress::codecs())
    EXPECT_TRUE(default_costs().codecs.contains(codec.about.name)) << codec.about.name << ": see codec_bench";
}

TEST(measured_costs, are_positive_and_of_every_codec) {
  const auto costs = measure_costs(*prepare(quadratic_run("d-psgd", 2, 1)));
  EXPECT_GT(costs.arithmetic_byte, 0);
  EXPECT_GT(costs.random_word, 0);
  EXPECT_GT(costs.frame_byte, 0);
  EXPECT_EQ(costs.codecs.size(), default_costs().codecs.size());
  EXPECT_GT(costs.codecs.at("uniform").encode_byte, 0);
  EXPECT_EQ(read(to_toml(costs)), costs);
}

// -- charges to runs --------------------------------------------------------------------------------------------------

// Every worker sends and receives two frames in a step, one after the other. Nothing else takes time.
TEST(charged_time, of_a_gossip_is_that_of_its_frames) {
  constexpr std::size_t steps = 50;
  const auto result = simulate(prepare(quadratic_run("d-psgd", 6, steps)), with_costs({.frame = 1e6}));
  EXPECT_NEAR(result.summary.final.time_s, steps * 4e-3, 4e-3);
  for (const auto& worker : result.time_used)
    EXPECT_NEAR(seconds_of(worker, activity::communicating), steps * 4e-3, 4e-3);
}

// 8 bits: a step packs the worker's own model and unpacks two of others.
TEST(charged_time, of_a_codec_is_by_bytes_and_direction) {
  constexpr std::size_t steps = 50;
  auto s = quadratic_run("d-psgd", 6, steps);
  s.codec = "uniform:bits=8";
  const auto result =
      simulate(prepare(s), with_costs({.codecs = {{"uniform", {.encode_byte = 250, .decode_byte = 25}}}}));
  for (const auto& worker : result.time_used) {
    EXPECT_NEAR(seconds_of(worker, activity::compressing), steps * 4000 * (250e-9 + 2 * 25e-9), 1e-6);
    EXPECT_EQ(worker.of(activity::computing), 0);
  }
}

TEST(charged_time, of_an_optimiser_grows_with_its_state) {
  const auto computing = [](const std::string& optimiser) {
    auto s = quadratic_run("all-reduce-sgd", 1, 10);
    s.optimiser = optimiser;
    const auto result = simulate(prepare(s), with_costs({.arithmetic_byte = 1000}));
    return seconds_of(result.time_used[0], activity::computing);
  };
  const auto sgd = computing("sgd");
  EXPECT_NEAR(computing("momentum") - sgd, 10 * 2 * 4000 * 1e-6, 1e-9);
  EXPECT_NEAR(computing("adam") - sgd, 10 * 4 * 4000 * 1e-6, 1e-9);
}

TEST(charged_time, makes_a_master_the_bottleneck_of_many_workers) {
  const work_costs cost{.frame = 1e5};
  const auto time_of = [&](std::size_t workers) {
    auto s = quadratic_run("async-sgd", workers, 400);
    s.steps = 400 / workers;
    return simulate(prepare(s), with_costs(cost, "ideal", 1e-7)).summary.final.time_s;
  };
  EXPECT_GT(time_of(8), 0.6 * time_of(2)) << "the master handles every frame of everybody, one after the other";
}

TEST(charged_time, does_not_depend_on_who_looks_on) {
  const auto e = prepare(quadratic_run("ad-psgd", 4, 100));
  auto s = with_costs(default_costs(), "tang-best", 2e-5);
  const auto first = simulate(e, s);
  EXPECT_EQ(simulate(e, s).hash, first.hash);
  s.trace = std::make_shared<trace_recorder>();
  EXPECT_EQ(simulate(e, s).hash, first.hash);
  s.check = false;
  EXPECT_EQ(simulate(e, s).hash, first.hash);
  s.cost = {};
  EXPECT_NE(simulate(e, s).hash, first.hash);
}

TEST(charged_time, is_drawn_as_compute_compress_and_communicate) {
  auto run = quadratic_run("d-psgd", 4, 20);
  run.codec = "uniform:bits=8";
  auto s = with_costs(default_costs(), "tang-best", 2e-5);
  s.trace = std::make_shared<trace_recorder>();
  simulate(prepare(run), s);
  const scratch_file trace{"gossamer_costs_trace.json"};
  std::FILE* file = std::fopen(trace.path.c_str(), "w");
  s.trace->write(file);
  std::fclose(file);
  std::stringstream text;
  text << std::ifstream{trace.path}.rdbuf();
  for (const char* bar : {"\"compute\"", "\"compress\"", "\"communicate\""})
    EXPECT_THAT(text.str(), HasSubstr(bar));
}

// T36: gradients never wait for messages. The first exchange is under way for as long as there are gradients.
TEST(compute_actors, are_never_idle_in_ad_psgd_while_links_stand_still) {
  struct curve final : run_observer {
    void on_evaluation(const evaluation_record& r) override { records.push_back(r); }
    std::vector<evaluation_record> records;
  };
  constexpr std::size_t workers = 4, steps = 200;
  constexpr double gradient_s = 10 * 1e-4;
  for (const auto& cost : {work_costs{}, default_costs()}) {
    auto s = with_costs(cost, "uniform:latency=1000,bandwidth=1e9", 1e-4);
    s.patience_s = 1e6;
    curve seen;
    const auto result = simulate(prepare(quadratic_run("ad-psgd", workers, steps)), s, {.observer = &seen});
    const auto update_s = 1e-9 * (cost.arithmetic_byte * 3 * 4000 + 3 * cost.frame); // all work in between
    ASSERT_GT(seen.records.size(), 10u);
    EXPECT_GT(seen.records.back().time_s, 1000) << "it ends when the exchange does";
    seen.records.pop_back();
    for (const auto& r : seen.records)
      EXPECT_LE(r.time_s, (static_cast<double>(r.step) / workers + 1) * (gradient_s + update_s)) << r.step;
    for (const auto& worker : result.time_used)
      EXPECT_NEAR(seconds_of(worker, activity::computing), steps * (gradient_s + update_s), 2 * gradient_s);
  }
}

// -- time that stands still -------------------------------------------------------------------------------------------

TEST(time_that_stands_still, is_refused) {
  const auto e = prepare(quadratic_run("ad-psgd:averaging=continuous", 2, 100));
  EXPECT_THAT(refusal([&] { simulate(e, with_costs({}, "ideal", 1e-4)); }),
              AllOf(HasSubstr("time stands still at 0 s"), HasSubstr("--cost none")));
  EXPECT_EQ(simulate(e, with_costs(default_costs(), "ideal", 1e-4)).summary.end, run_end::planned);
}

TEST(time_that_stands_still, is_refused_at_once_when_the_user_has_had_enough) {
  const auto e = prepare(quadratic_run("ad-psgd:averaging=continuous", 40, 100));
  int asked = 0;
  run_surroundings around;
  around.interrupted = [&asked] { return ++asked > 1000; };
  EXPECT_THAT(refusal([&] { simulate(e, with_costs({}, "ideal", 1e-4), around); }), HasSubstr("time stands still"));
  EXPECT_LT(asked, 25'000);
}

TEST(an_interrupt, is_heard_long_before_a_tenth_of_a_virtual_second_is_over) {
  int asked = 0;
  run_surroundings around;
  around.interrupted = [&asked] { return ++asked > 100; };
  const auto summary =
      simulate(prepare(quadratic_run("d-psgd", 4, 1000)), with_costs(default_costs(), "ideal", 1e-6), around).summary;
  EXPECT_EQ(summary.end, run_end::interrupted);
  EXPECT_LT(summary.final.time_s, 0.01);
}

TEST(an_interrupt, is_no_standstill_however_many_hear_of_it) {
  constexpr std::uint64_t many = 100'000, messages_of_each = 20;
  standstill guard{many};
  for (std::uint64_t i = 0; i < many * many / 1000; ++i) // messages of a round that is under way
    guard.count({});
  guard.hurry();
  for (std::uint64_t i = 0; i < many * messages_of_each; ++i)
    guard.count({});
  EXPECT_THAT(refusal([&] {
                for (std::uint64_t i = 0; i < many * many; ++i)
                  guard.count({});
              }),
              HasSubstr("time stands still"));
}

TEST(time_that_stands_still, is_not_that_of_many_workers_without_costs) {
  auto s = quadratic_run("all-reduce-sgd", 64, 3);
  s.data = "quadratic:samples=640,dim=64";
  EXPECT_EQ(simulate(prepare(s), with_costs({})).summary.end, run_end::planned);
}

} // namespace
} // namespace gossamer::actors
