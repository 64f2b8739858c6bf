// Runs over hosts whose links and speed a file describes.
#include "gossamer/actors/simulated/simulated_world.hpp"

#include <gmock/gmock.h>

#include "expect.hpp"
#include "measured_file.hpp"
#include "quadratic_run.hpp"

namespace gossamer::actors {
namespace {

using testing::HasSubstr;
using testing_support::link_text, testing_support::measured_file, testing_support::quadratic_run,
    testing_support::refusal;

/// Returns two hosts, of which the first has two processes.
std::string hosts(const std::string& of_a, const std::string& of_b, const std::string& latency) {
  return "[[host]]\nhost = 'a'\nslots = 2\n" + of_a + "[[host]]\nhost = 'b'\n" + of_b
         + link_text("a", "b", latency, "inf") + link_text("b", "a", latency, "inf");
}

simulation_settings over(const measured_file& file) {
  simulation_settings s;
  s.network = file.spec();
  s.sample_time_s = 1e-4;
  s.cost = {};
  return s;
}

constexpr std::size_t steps = 5, batch = 10;

double seconds_of(const run_settings& s, const measured_file& file) {
  return simulate(prepare(s), over(file)).summary.final.time_s;
}

TEST(simulated_hosts, compute_as_long_as_was_measured) {
  const auto run = quadratic_run("all-reduce-sgd", 3, steps);
  const measured_file slow{hosts("", "seconds_per_sample = 0.01\n", "0")}, unknown{hosts("", "", "0")};
  EXPECT_NEAR(seconds_of(run, slow), steps * batch * 0.01, 1e-9);
  EXPECT_NEAR(seconds_of(run, unknown), steps * batch * 1e-4, 1e-9);
}

TEST(simulated_hosts, have_the_workers_that_launch_would_give_them) {
  // The two processes of the first host have four of six workers, so only these frames of a ring take long: 3 to 4, 4
  // to 3, 5 to 0 and 0 to 5. A step of gossip takes one of them.
  const measured_file file{hosts("", "seconds_per_sample = 0.01\n", "1")};
  auto run = quadratic_run("d-psgd", 6, 1);
  EXPECT_NEAR(seconds_of(run, file), 1, 0.01);
  const auto result = simulate(prepare(run), over(file));
  for (std::size_t i = 0; i < 6; ++i)
    EXPECT_NEAR(1e-9 * static_cast<double>(result.time_used[i].of(activity::computing)), batch * (i < 4 ? 1e-4 : 0.01),
                1e-9)
        << "worker " << i;
}

TEST(simulated_hosts, say_who_shares_a_machine) {
  const measured_file file{hosts("", "", "0")};
  EXPECT_THAT(refusal([&] { simulate(prepare(quadratic_run("all-reduce-sgd", 2, 1)), over(file)); }),
              HasSubstr("3 nodes cannot share 2 workers"));
  auto settings = over(file);
  settings.workers_per_node = 2;
  EXPECT_THAT(refusal([&] { simulate(prepare(quadratic_run("all-reduce-sgd", 4, 1)), settings); }),
              HasSubstr("--workers-per-node is 2, but the hosts say"));
}

} // namespace
} // namespace gossamer::actors
