#include "gossamer/apps/detail/attempt.hpp"

#include "gossamer/apps/detail/told.hpp"
#include "gossamer/base/error.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <thread>

namespace gossamer::apps {

namespace {

using json = nlohmann::ordered_json;

json simulate_and_tell(const run_setup& run, bool twice) {
  const auto result = simulate_silently(run);
  if (twice)
    expect_same_hash(result.hash, simulate_silently(run).hash);
  return {{"hash", result.hash}, {"train_loss", result.summary.final.train_loss}};
}

/// @error errc::usage if the process ended with that
attempt understood(const process_end& end) {
  attempt result{.too_long = end.too_long};
  json said;
  if (const auto problem = understand(end, said)) {
    if (problem->code() == errc::usage)
      throw *problem;
    result.failed = true;
    result.code = problem->code();
    result.message = problem->what();
    return result;
  }
  result.hash = said["hash"];
  result.train_loss = said["train_loss"].is_null() ? NAN : said["train_loss"].get<double>();
  return result;
}

} // namespace

actors::simulation_result simulate_silently(const run_setup& run) {
  auto world = run.options.world;
  world.trace.reset();
  return actors::simulate(run.experiment, world, {.faults = run.plan, .from = run.from});
}

void expect_same_hash(std::uint64_t first, std::uint64_t second) {
  if (first != second)
    throw error(errc::failed,
                fmt::format("the same settings gave the trace hashes 0x{:016x} and 0x{:016x}", first, second),
                "something random or uninitialised decides what happens; the algorithm is the first suspect");
}

void attempt_all(std::size_t count, const attempt_options& how, const std::function<run_setup(std::size_t)>& run_of,
                 const std::function<bool(std::size_t, const attempt&)>& on_end) {
  const auto jobs = how.jobs > 0 ? how.jobs : std::max(1u, std::thread::hardware_concurrency());
  in_processes(
      count, jobs, how.run_limit_s,
      [&](std::size_t i) { return tell([&] { return simulate_and_tell(run_of(i), how.twice); }); },
      [&](std::size_t i, const process_end& end) { return on_end(i, understood(end)); }, how.stop);
}

} // namespace gossamer::apps
