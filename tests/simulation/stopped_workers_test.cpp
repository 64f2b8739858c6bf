// Workers that a plan of faults stops, for a while or for ever: when they compute, what is booked of it, and what is
// said of faults that come too late. Gradients take 1 s, and messages no time.
#include "gossamer/actors/real_time/local_world.hpp"
#include "gossamer/actors/simulated/simulated_world.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>

#include "lawful_run.hpp"
#include "quadratic_run.hpp"

namespace gossamer::actors {
namespace {

using testing::Contains;
using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::Pair;
using testing_support::events;
using testing_support::quadratic_run;

constexpr double to_a_few_ns = 1e-8;

simulation_settings of_seconds() {
  simulation_settings s;
  s.network = "ideal";
  s.sample_time_s = 0.1;
  s.cost = {};
  s.detection_s = 0;
  return s;
}

simulation_result stopped(const run_settings& settings, std::vector<fault> faults,
                          const simulation_settings& s = of_seconds()) {
  return simulate(prepare(settings), s, {.faults = {std::move(faults)}});
}

fault stop(double at_s, double lasts_s) {
  return {.kind = fault_kind::pause, .workers = {1}, .at_s = at_s, .lasts_s = lasts_s};
}

double computing_s(const simulation_result& r, rank i) {
  return 1e-9 * static_cast<double>(r.time_used[i].of(activity::computing));
}

TEST(a_pause, puts_off_the_end_of_the_gradient_that_it_strikes) {
  for (const char* algorithm : {"all-reduce-sgd", "d-psgd"}) {
    const auto calm = stopped(quadratic_run(algorithm, 2, 3), {});
    const auto paused = stopped(quadratic_run(algorithm, 2, 3), {stop(0.1, 0.8)});
    EXPECT_NEAR(calm.summary.final.time_s, 3, to_a_few_ns) << algorithm;
    EXPECT_NEAR(paused.summary.final.time_s, 3.8, to_a_few_ns) << algorithm;
    EXPECT_EQ(paused.summary.final.train_loss, calm.summary.final.train_loss) << algorithm;
  }
}

TEST(a_pause, puts_off_the_end_of_a_gradient_as_often_as_it_comes) {
  const auto r = stopped(quadratic_run("all-reduce-sgd", 2, 3), {stop(0.1, 0.1), stop(0.3, 0.2), stop(1.5, 10)});
  EXPECT_NEAR(r.summary.final.time_s, 13.3, to_a_few_ns);
}

TEST(pauses, end_with_the_last_of_those_that_overlap) {
  const auto run = quadratic_run("all-reduce-sgd", 2, 3);
  EXPECT_NEAR(stopped(run, {stop(0.1, 0.8), stop(0.5, 1.0)}).summary.final.time_s, 3 + 1.4, to_a_few_ns);
  EXPECT_NEAR(stopped(run, {stop(0.1, 1.4), stop(0.5, 0.1)}).summary.final.time_s, 3 + 1.4, to_a_few_ns);
  EXPECT_NEAR(stopped(run, {stop(0.1, 0.7), stop(0.8, 0.7)}).summary.final.time_s, 3 + 1.4, to_a_few_ns) << "they meet";
}

TEST(a_life, that_begins_within_a_pause_is_paused) {
  const fault kill{.kind = fault_kind::kill, .workers = {1}, .at_s = 0.5, .lasts_s = 0.5};
  const auto end_of = [&](std::vector<fault> faults) {
    return stopped(quadratic_run("all-reduce-sgd", 2, 3), std::move(faults)).summary.final.time_s;
  };
  EXPECT_LT(end_of({kill}), 5);
  EXPECT_GT(end_of({kill, stop(0.2, 20)}), 20.2) << "the others wait until it goes on";
}

// -- what is booked ---------------------------------------------------------------------------------------------------

TEST(computing_time, of_a_paused_worker_is_that_of_its_gradients) {
  const auto r = stopped(quadratic_run("all-reduce-sgd", 2, 3), {stop(0.1, 0.8), stop(1.9, 0.3)});
  EXPECT_NEAR(computing_s(r, 0), 3, to_a_few_ns);
  EXPECT_NEAR(computing_s(r, 1), 3, to_a_few_ns);
}

TEST(computing_time, of_a_dead_worker_ends_with_it) {
  const fault kill{.kind = fault_kind::kill, .workers = {1}, .at_s = 1.25};
  const auto r = stopped(quadratic_run("d-psgd", 3, 5), {kill});
  EXPECT_NEAR(computing_s(r, 1), 1.25, to_a_few_ns);
  EXPECT_NEAR(computing_s(stopped(quadratic_run("d-psgd", 3, 5), {stop(1.1, 1), kill}), 1), 1.1, to_a_few_ns);
}

TEST(computing_time, is_not_longer_than_the_run) {
  auto run = quadratic_run("d-psgd", 2, 3);
  run.steps.reset();
  run.seconds = 3;
  run.slow[1] = 100;
  const auto r = stopped(run, {});
  EXPECT_EQ(r.summary.unfinished, 2u) << "the run does not wait for this gradient";
  EXPECT_LT(r.summary.final.time_s, 100);
  EXPECT_NEAR(computing_s(r, 1), r.summary.final.time_s, to_a_few_ns);
}

/// Begin and length of all slices of a row, in seconds.
std::vector<std::pair<double, double>> slices_of(const trace_recorder& trace, const std::string& row) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file{std::tmpfile(), &std::fclose};
  trace.write(file.get());
  std::string text(static_cast<std::size_t>(std::ftell(file.get())), '\0');
  std::rewind(file.get());
  EXPECT_EQ(std::fread(text.data(), 1, text.size(), file.get()), text.size());
  const auto events = nlohmann::json::parse(text)["traceEvents"];
  const auto is_name = [&](const auto& e) { return e["name"] == "thread_name" && e["args"]["name"] == row; };
  const auto name = std::ranges::find_if(events, is_name);
  std::vector<std::pair<double, double>> result;
  for (const auto& e : events)
    if (name != events.end() && e["ph"] == "X" && e["tid"] == (*name)["tid"])
      result.emplace_back(1e-6 * e["ts"].get<double>(), 1e-6 * e["dur"].get<double>());
  return result;
}

TEST(computing_time, is_drawn_as_it_is_booked) {
  auto s = of_seconds();
  s.trace = std::make_shared<trace_recorder>();
  stopped(quadratic_run("d-psgd", 2, 2), {stop(0.1, 0.8), {.kind = fault_kind::kill, .workers = {1}, .at_s = 2}}, s);
  const auto part = [](double begins, double lasts) {
    return Pair(DoubleNear(begins, to_a_few_ns), DoubleNear(lasts, to_a_few_ns));
  };
  EXPECT_THAT(slices_of(*s.trace, "compute 1"), ElementsAre(part(0, 0.1), part(0.9, 0.9), part(1.8, 0.2)));
}

// -- faults that come too late ----------------------------------------------------------------------------------------

TEST(a_run_with_a_plan, says_at_its_end_which_faults_have_not_begun) {
  const std::vector<fault> late{{.kind = fault_kind::drop, .at_step = 1000},
                                {.kind = fault_kind::kill, .workers = {1}, .at_s = 5000, .lasts_s = 1},
                                {.kind = fault_kind::pause, .workers = {0}, .at_s = 7000}};
  const auto all_late =
      "3 faults of the plan have not begun; the first of them: worker 1 is dead from 5000 s to 5001 s";
  const auto run = prepare(quadratic_run("d-psgd", 2, 3));
  for (const bool processes : {false, true}) {
    events seen;
    auto s = of_seconds();
    s.processes = processes;
    simulate(run, s, {.observer = &seen, .faults = {late}});
    EXPECT_THAT(seen.all(), Contains(all_late)) << processes;
  }
  events really;
  run_locally(run, {.observer = &really, .faults = {late}});
  EXPECT_THAT(really.all(), Contains(all_late));

  events one, none;
  simulate(run, of_seconds(), {.observer = &one, .faults = {{stop(0.1, 0.2), late[1]}}});
  EXPECT_THAT(one.all(), Contains("1 fault of the plan has not begun: worker 1 is dead from 5000 s to 5001 s"));
  simulate(run, of_seconds(), {.observer = &none, .faults = {{stop(0.1, 0.2), stop(0.5, 0.2)}}});
  EXPECT_THAT(none.all(), Not(Contains(HasSubstr("not begun"))));
}

} // namespace
} // namespace gossamer::actors
