#include "gossamer/actors/faults/plan.hpp"

#include <gmock/gmock.h>

#include <limits>

#include "support/usage_error.hpp"

namespace gossamer::actors {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using enum fault_kind;

std::string refusal(const fault& f, std::size_t workers = 4, std::size_t workers_per_node = 2) {
  return usage_error([&] { check({{fault{.kind = delay, .seconds = 1}, f}}, workers, workers_per_node); });
}

TEST(fault_plan, ends_with_the_last_begin_or_end) {
  EXPECT_EQ(fault_plan{}.last_end_s(), 0);
  EXPECT_EQ((fault_plan{{{.kind = drop, .at_s = 2}}}.last_end_s()), 2);
  EXPECT_EQ((fault_plan{{{.kind = drop, .at_s = 2}, {.kind = drop, .at_s = 0.5, .lasts_s = 3}}}.last_end_s()), 3.5);
  EXPECT_EQ((fault_plan{{{.kind = drop, .at_step = 9, .lasts_s = 3}}}.last_end_s()), 0);
}

TEST(fault_plan, compares_what_happens_and_not_where_it_is_written) {
  const fault here{.kind = drop, .written_at = {"a.toml:1"}}, there{.kind = drop, .written_at = {"b.toml:2"}};
  EXPECT_EQ(here, there);
  EXPECT_NE(here, (fault{.kind = drop, .rate = 0.5}));
}

TEST(named_workers, are_victims_or_ends_of_links_or_everybody) {
  EXPECT_THAT(named_workers({.kind = kill, .workers = {3, 0}}, 5, 2), ElementsAre(0, 3));
  EXPECT_THAT(named_workers({.kind = kill, .nodes = {1}}, 5, 2), ElementsAre(2, 3));
  EXPECT_THAT(named_workers({.kind = kill, .workers = {0}, .nodes = {2}}, 5, 2), ElementsAre(0, 4));
  EXPECT_THAT(named_workers({.kind = drop, .from = {1}, .to = {4, 2}}, 5, 2), ElementsAre(1, 2, 4));
  EXPECT_THAT(named_workers({.kind = drop}, 3, 1), ElementsAre(0, 1, 2));
  EXPECT_THAT(named_workers({.kind = drop}, 0, 1), IsEmpty());
}

TEST(named_workers, leave_out_who_does_not_exist) {
  constexpr auto huge = std::numeric_limits<std::size_t>::max();
  EXPECT_THAT(named_workers({.kind = kill, .workers = {9}, .nodes = {7, huge}}, 5, 2), IsEmpty());
}

TEST(check, accepts_every_kind) {
  const fault_plan plan{{{.kind = kill, .workers = {3}, .lasts_s = 1},
                         {.kind = pause, .nodes = {1}, .at_step = 0},
                         {.kind = slow, .workers = {0}, .factor = 1},
                         {.kind = partition, .nodes = {0}},
                         {.kind = partition, .from = {0, 1}, .to = {2}, .one_way = true},
                         {.kind = drop, .from = {1}, .rate = 1e-9},
                         {.kind = duplicate, .to = {1}},
                         {.kind = reorder, .rate = 0.5, .seconds = 1},
                         {.kind = corrupt, .from = {2}, .to = {2, 3}},
                         {.kind = delay, .seconds = 1},
                         {.kind = throttle, .bits_per_second = 1}}};
  EXPECT_NO_THROW(check(plan, 4, 2));
  EXPECT_NO_THROW(check({}, 1, 1));
}

TEST(check, says_which_fault_and_what_is_allowed) {
  EXPECT_THAT(refusal({.kind = kill, .workers = {4}}),
              HasSubstr("fault 1 of the plan: workers of kill names 4, which does not exist; allowed: 0 to 3"));
  EXPECT_THAT(refusal({.kind = kill, .workers = {4}, .written_at = {"p.toml:8"}}), testing::StartsWith("p.toml:8: "));
  EXPECT_THAT(refusal({.kind = pause, .nodes = {2}}), HasSubstr("nodes of pause names 2, which does not exist"));
  EXPECT_THAT(refusal({.kind = drop, .from = {7}}), HasSubstr("from of drop names 7"));
  EXPECT_THAT(refusal({.kind = drop, .to = {7}}), HasSubstr("to of drop names 7"));
  EXPECT_NO_THROW(check({{{.kind = pause, .nodes = {2}}}}, 5, 2)); // the last node has fewer workers
}

TEST(check, refuses_what_a_kind_has_no_use_for) {
  EXPECT_THAT(refusal({.kind = kill, .workers = {1}, .rate = 0.5}),
              HasSubstr("kill has no rate; rate is for drop, duplicate, reorder, corrupt, delay"));
  EXPECT_THAT(refusal({.kind = drop, .workers = {1}}), HasSubstr("workers is for kill, pause, slow, partition"));
  EXPECT_THAT(refusal({.kind = join, .workers = {1}, .lasts_s = 1}), HasSubstr("join has no for; for is for kill"));
  EXPECT_THAT(refusal({.kind = leave, .coordinators = 1}), HasSubstr("leave has no coordinators"));
  EXPECT_THAT(refusal({.kind = drop, .one_way = true}), HasSubstr("one-way is for partition"));
  EXPECT_THAT(refusal({.kind = pause, .workers = {1}, .processes = true}),
              HasSubstr("processes is for kill, leave, join"));
}

TEST(check, refuses_numbers_out_of_range) {
  constexpr auto nan = std::numeric_limits<double>::quiet_NaN();
  for (const double rate : {0.0, -1.0, 1.5, nan})
    EXPECT_THAT(refusal({.kind = drop, .rate = rate}), HasSubstr("allowed: a number from 1e-09 to 1")) << rate;
  EXPECT_THAT(refusal({.kind = slow, .workers = {0}, .factor = 0.5}),
              HasSubstr("factor of slow is 0.5, which is out of"));
  EXPECT_THAT(refusal({.kind = drop, .at_s = -1}), HasSubstr("at of drop is -1"));
  EXPECT_THAT(refusal({.kind = drop, .lasts_s = 0}), HasSubstr("for of drop is 0"));
  EXPECT_THAT(refusal({.kind = delay, .seconds = 1e10}), HasSubstr("seconds of delay is 10000000000"));
  EXPECT_THAT(refusal({.kind = throttle, .bits_per_second = 0.5}), HasSubstr("bits-per-second of throttle is 0.5"));
}

TEST(check, refuses_what_is_missing_or_contradicts_itself) {
  EXPECT_THAT(refusal({.kind = slow, .workers = {0}}), HasSubstr("this slow needs factor"));
  EXPECT_THAT(refusal({.kind = delay}), HasSubstr("this delay needs seconds"));
  EXPECT_THAT(refusal({.kind = throttle}), HasSubstr("this throttle needs bits-per-second"));
  EXPECT_THAT(refusal({.kind = kill}), HasSubstr("strikes nobody; give workers or nodes, or both; or else coord"));
  EXPECT_THAT(refusal({.kind = kill, .processes = true}), HasSubstr("strikes nobody"));
  EXPECT_THAT(refusal({.kind = kill, .workers = {1}, .coordinators = 1}),
              HasSubstr("coordinators and something else to strike"));
  EXPECT_THAT(refusal({.kind = kill, .workers = {1, 2, 1}}), HasSubstr("workers of kill names 1 twice"));
  EXPECT_THAT(refusal({.kind = drop, .at_s = 1, .at_step = 1}), HasSubstr("both at and at-step"));
  EXPECT_THAT(refusal({.kind = drop, .from = {1}, .to = {1}}), HasSubstr("is on no link"));
}

TEST(check, refuses_to_kill_processes_where_there_are_none_to_kill) {
  EXPECT_NO_THROW(check_without_processes({{{.kind = kill, .workers = {1}}}}));
  for (const fault& f :
       {fault{.kind = kill, .workers = {1}, .processes = true}, fault{.kind = kill, .coordinators = 2}})
    EXPECT_THAT(usage_error([&] {
                  check_without_processes({{{.kind = drop}, f}});
                }),
                HasSubstr("fault 1 of the plan: this kill is one of processes"));
}

TEST(check, wants_two_sides_of_a_partition) {
  for (const fault& f : {fault{.kind = partition}, fault{.kind = partition, .from = {1}},
                         fault{.kind = partition, .to = {1}}, fault{.kind = partition, .workers = {0}, .from = {1}},
                         fault{.kind = partition, .workers = {0}, .from = {1}, .to = {2}}})
    EXPECT_THAT(refusal(f), HasSubstr("two sides of this partition are not clear"));
  EXPECT_THAT(refusal({.kind = partition, .from = {0, 1}, .to = {1, 2}}), HasSubstr("worker 1 is on both sides"));
  EXPECT_THAT(refusal({.kind = partition, .nodes = {0, 1}}), HasSubstr("nobody is on the other side"));
}

TEST(check, wants_workers) {
  EXPECT_THAT(usage_error([] { check({}, 0, 1); }), HasSubstr("at least 1"));
  EXPECT_THAT(usage_error([] { check({}, 1, 0); }), HasSubstr("at least 1"));
}

TEST(describe, says_it_in_one_line) {
  EXPECT_EQ(describe({.kind = kill, .workers = {3}, .at_s = 2.5, .lasts_s = 1}),
            "worker 3 is dead from 2.5 s to 3.5 s");
  EXPECT_EQ(describe({.kind = kill, .workers = {4, 2, 0, 1, 6}, .at_s = 0.1}),
            "workers 0-2, 4 and 6 are dead from 0.1 s on");
  EXPECT_EQ(describe({.kind = kill, .workers = {3}, .at_s = 2, .processes = true}),
            "the process of worker 3 is dead from 2 s on");
  EXPECT_EQ(describe({.kind = kill, .nodes = {0, 2}, .at_s = 2, .lasts_s = 1, .processes = true}),
            "the processes of nodes 0 and 2 are dead from 2 s to 3 s");
  EXPECT_EQ(describe({.kind = kill, .at_s = 2, .coordinators = 1}), "the process that leads is dead from 2 s on");
  EXPECT_EQ(describe({.kind = kill, .at_step = 9, .coordinators = 3}),
            "the process that leads and 2 more that vote are dead from step 9 on");
  EXPECT_EQ(describe({.kind = leave, .workers = {1, 2}, .at_s = 2, .lasts_s = 1}),
            "workers 1 and 2 are gone from 2 s to 3 s");
  EXPECT_EQ(describe({.kind = join, .workers = {8}, .at_s = 2, .processes = true}),
            "the process of worker 8 is there from 2 s on");
  EXPECT_EQ(describe({.kind = pause, .nodes = {0, 1}, .at_step = 100, .lasts_s = 0.5}),
            "nodes 0 and 1 stand still for 0.5 s from step 100 on");
  EXPECT_EQ(describe({.kind = slow, .workers = {1}, .nodes = {2}, .at_step = 7, .factor = 4}),
            "worker 1 and node 2 take 4 times as long for a gradient from step 7 on");
  EXPECT_EQ(describe({.kind = partition, .workers = {0}, .at_s = 0.1, .lasts_s = 0.2}),
            "nothing gets from worker 0 to the others or back from 0.1 s to 0.3 s");
  EXPECT_EQ(describe({.kind = partition, .from = {0}, .to = {1, 2}, .one_way = true}),
            "nothing gets from worker 0 to workers 1 and 2 from 0 s on");
  EXPECT_EQ(describe({.kind = drop, .rate = 0.05}), "5 % of all frames are lost from 0 s on");
  EXPECT_EQ(describe({.kind = drop}), "all frames are lost from 0 s on");
  EXPECT_EQ(describe({.kind = duplicate, .from = {0}, .rate = 0.5}),
            "50 % of the frames from worker 0 arrive twice from 0 s on");
  EXPECT_EQ(describe({.kind = reorder, .rate = 0.5, .seconds = 0.25}),
            "50 % of all frames are held back up to 0.25 s and overtaken from 0 s on");
  EXPECT_EQ(describe({.kind = corrupt, .to = {1, 2}}), "all frames to workers 1 and 2 are damaged from 0 s on");
  EXPECT_EQ(describe({.kind = delay, .from = {0}, .to = {1}, .seconds = 0.1}),
            "all frames from worker 0 to worker 1 come 0.1 s late from 0 s on");
  EXPECT_EQ(describe({.kind = throttle, .bits_per_second = 1e6}),
            "each link carries at most 1e+06 bits a second from 0 s on");
}

TEST(describe, names_the_first_fault_that_a_run_has_missed) {
  const fault early{.kind = kill, .workers = {3}, .at_s = 7}, late{.kind = drop, .at_s = 70};
  const fault at_a_step{.kind = pause, .workers = {0}, .at_step = 5}, later_step{.kind = drop, .at_step = 50};
  EXPECT_EQ(describe_missed({}), "");
  EXPECT_EQ(describe_missed({early}), "1 fault of the plan has not begun: worker 3 is dead from 7 s on");
  EXPECT_EQ(describe_missed({at_a_step, late, early}),
            "3 faults of the plan have not begun; the first of them: worker 3 is dead from 7 s on");
  EXPECT_EQ(describe_missed({later_step, at_a_step}),
            "2 faults of the plan have not begun; the first of them: worker 0 stands still from step 5 on");
}

} // namespace
} // namespace gossamer::actors
