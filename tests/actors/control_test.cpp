// Control messages as they cross machines.
#include "gossamer/actors/agreement/delegate.hpp"
#include "gossamer/actors/protocol/control.hpp"
#include "gossamer/actors/protocol/run.hpp"
#include "gossamer/actors/protocol/run_status.hpp"

#include <caf/all.hpp>
#include <gtest/gtest.h>

#include <cmath>
#include <tuple>

namespace gossamer::actors {
namespace {

worker_activity some_activity() {
  return {.who = 5, .bits_per_second = {{1, 1200}}, .waits_for = {1}, .waited_ns = {{1, 500}}, .used_ns = {1, 2, 3, 4}};
}

std::tuple<decision, worker_joined, worker_finished, worker_lost, worker_waits, kill_worker, restart_worker,
           pause_worker, snapshot_request, snapshot_taken, mean_request, mean_evaluated, run_progress, work_report,
           node_lost, status_request, stop_request, run_status, save_checkpoint, part_saved, part_not_saved,
           checkpoint_complete, consensus::wish, consensus::hold, consensus::holding, consensus::propose,
           consensus::accepted, consensus::proceed, consensus::refused, worker_paused, retire_worker, leave_request,
           will_leave, heartbeat, lines_request, run_lines>
samples() {
  const view_change change{
      .number = 7, .first_step = 1'000'000'000'000, .lives = {{0, 0}, {2, 5}, {4, 1}}, .donors = {{2, 0}}};
  auto last = consensus::founding({0, 1, 1}, {0}, 100), next = last;
  next.what = {.number = 2, .view = change, .limit = 100, .save_at = 8, .parting = {9, {{2, 4}}}};
  const consensus::ballot by{3, 1, 0};
  return {
      {.number = 9, .view = change, .limit = ~std::uint64_t{0}},
      {.source = 2, .incarnation = 5, .step = 12},
      {.source = 2, .incarnation = 5},
      {.who = 3, .incarnation = 1},
      {.who = 3},
      {.who = 3, .comes_back = true},
      {.who = 3},
      {.who = 1, .paused = true},
      {.evaluation = std::uint64_t{1} << 63},
      {.source = 4, .incarnation = 1, .evaluation = 99, .gradients = 7, .sent = {3, 1024, 1200, 512}},
      {.number = 8, .evaluation = 99, .lives = {{0, 3, 0}, {4, 1, 2}}},
      {.epoch = 1.5, .train_loss = HUGE_VAL, .test_loss = 0.25, .test_accuracy = 0.75},
      {.updates = 42},
      {.steps =
           {{.source = 5, .incarnation = 1, .step = 9, .loss = 0.5, .sent = {3, 1024, 1200, 512}, .stale_frames = 0}},
       .staleness = {{2, 7}},
       .activity = {some_activity()}},
      {.node = 2, .why = "it does not answer"},
      {.control = 99},
      {.control = 99},
      {.algorithm = "d-psgd",
       .nodes = 3,
       .there = 2,
       .begun = true,
       .epoch = 1.5,
       .planned_epochs = HUGE_VAL,
       .accuracy = 0.9},
      {.number = 30},
      {.source = 2,
       .incarnation = 1,
       .checkpoint = 30,
       .part = {.digest = 7, .gradients = 20, .sent = {3, 1024, 1200, 512}}},
      {.checkpoint = 30, .why = "the disk is full"},
      {.whole = {.checkpoint = 30,
                 .workers = 2,
                 .masters = 1,
                 .steps = 12.5,
                 .time_s = 1.5,
                 .samples = 768,
                 .former_gradients = 4,
                 .former_sent = {3, 1024, 1200, 512},
                 .parts = {{0, {.digest = 7, .gradients = 20, .sent = {}}}}}},
      {.stop = true, .why = run_end::seconds, .save = true},
      {by, last},
      {by,
       1,
       {4, {"here", 7}, {"there", 8}},
       1,
       {by, next},
       {{.who = 2, .incarnation = 1, .line = 3, .step = 5, .next_exchange = 8, .retires = true}}},
      {by, last, next},
      {by, 1, 4, 2},
      {next},
      {by, {4, 0, 0}, last},
      {.source = 2, .incarnation = 5},
      {.who = 3},
      {.node = 4},
      {.node = 4},
      {.watched = true},
      {.next = 7},
      {.leader = 1, .next = 9, .lines = {"{}"}, .doors = {{"here", 7}}}};
}

template <class Message>
std::vector<char> serialised(caf::actor_system& system, Message& m) {
  std::vector<char> bytes;
  caf::binary_serializer sink{system, bytes};
  EXPECT_FALSE(sink(m));
  return bytes;
}

TEST(control_messages, are_the_same_when_they_have_been_read_back) {
  caf::actor_system_config config;
  caf::actor_system system{config};
  auto all = samples();
  const auto check = [&](auto& sent) {
    std::remove_reference_t<decltype(sent)> received{};
    const auto bytes = serialised(system, sent);
    EXPECT_NE(bytes, serialised(system, received)) << "the sample has only defaults";
    caf::binary_deserializer source{system, bytes};
    EXPECT_FALSE(source(received));
    EXPECT_EQ(bytes, serialised(system, received));
    auto cut = bytes;
    cut.pop_back();
    caf::binary_deserializer early{system, cut};
    EXPECT_TRUE(early(received)) << "an end that comes too early";
  };
  std::apply([&](auto&... m) { (check(m), ...); }, all);

  run_failed failure{errc::device, "a GPU failed", "use another"}, read;
  const auto bytes = serialised(system, failure);
  caf::binary_deserializer source{system, bytes};
  EXPECT_FALSE(source(read));
  EXPECT_EQ(std::tie(read.code, read.sentence, read.remedy), std::tie(failure.code, failure.sentence, failure.remedy));
}

// Nodes of different programs understand each other only while this holds. A change of a message must raise
// control_version, and record the new length here.
TEST(control_messages, have_the_sizes_of_their_version) {
  caf::actor_system_config config;
  caf::actor_system system{config};
  auto all = samples();
  std::vector<std::size_t> sizes;
  std::apply([&](auto&... m) { (sizes.push_back(serialised(system, m).size()), ...); }, all);
  EXPECT_EQ(control_version, 16u);
  EXPECT_EQ(sizes,
            (std::vector<std::size_t>{83, 16, 8,  8,   4, 5,   5,   5,   8,  80,  45,  32, 8, 175, 23, 4, 4,  88,
                                      8,  88, 25, 189, 6, 134, 226, 268, 28, 134, 150, 8,  4, 8,   4,  1, 12, 24}));
}

} // namespace
} // namespace gossamer::actors
