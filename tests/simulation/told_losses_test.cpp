// What an observer is told of the ends of nodes, whoever leads.
#include "gossamer/actors/agreement/coordination.hpp"
#include "gossamer/actors/simulated/simulated_world.hpp"

#include <gmock/gmock.h>

#include <algorithm>

#include "lawful_run.hpp"

namespace gossamer::actors {
namespace {

using testing::Contains;

struct listener final : run_observer {
  void on_event(const event_record& r) override { told.push_back(r.what); }
  std::vector<std::string> told;
};

simulation_settings in_processes(double sample_time_s) {
  simulation_settings s;
  s.processes = true;
  s.sample_time_s = sample_time_s;
  return s;
}

// The leader after the next one has seen the first leader's end, too.
TEST(the_loss_of_a_leader, is_told_by_the_next_one_alone) {
  fault_plan plan;
  plan.faults.push_back({.kind = fault_kind::kill, .at_s = 2, .coordinators = 1});
  plan.faults.push_back({.kind = fault_kind::leave, .workers = {1}, .at_s = 4, .processes = true}); // it leads then
  listener seen;
  simulate(prepare(testing_support::lawful_run("d-psgd")), in_processes(0.01), {.observer = &seen, .faults = plan});
  EXPECT_THAT(seen.told, Contains("node 2 leads the run from now on"));
  EXPECT_EQ(std::ranges::count(seen.told, "node 0 is lost: its process is gone"), 1);
}

// The process of the last worker votes on, alone: more voters would bring no model back.
TEST(the_end_of_a_run, is_told_to_be_that_of_its_models_where_these_and_most_voters_are_lost) {
  auto settings = testing_support::lawful_run("d-psgd");
  settings.workers = 3;
  fault_plan plan;
  plan.faults.push_back({.kind = fault_kind::kill, .workers = {2}, .at_s = 1});
  plan.faults.push_back({.kind = fault_kind::kill, .at_s = 2, .coordinators = 2});
  try {
    simulate(prepare(settings), in_processes(0.01), {.faults = plan});
    ADD_FAILURE() << "nobody is left";
  } catch (const error& end) {
    EXPECT_EQ(end.sentence(), extinction().sentence);
  }
}

// Both sides have said each half second that they live.
TEST(a_partition, that_has_held_back_many_messages_ends_like_any_other) {
  auto settings = testing_support::lawful_run("d-psgd");
  settings.steps = 400;
  fault_plan plan;
  plan.faults.push_back({.kind = fault_kind::partition, .workers = {1}, .at_s = 2, .lasts_s = 1500});
  EXPECT_EQ(simulate(prepare(settings), in_processes(1), {.faults = plan}).summary.end, run_end::planned);
}

} // namespace
} // namespace gossamer::actors
