#include "gossamer/apps/detail/supervisor.hpp"

#include <gmock/gmock.h>

#include <csignal>

#include "support/all_of.hpp"

namespace gossamer::apps {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing_support::all_of;

constexpr int killed = 128 + SIGKILL;

std::vector<std::size_t> started(const supervisor::orders& orders) {
  std::vector<std::size_t> slots;
  for (const auto& one : all_of<supervisor::start_process>(orders))
    slots.push_back(one.slot);
  return slots;
}

std::vector<std::string> said(const supervisor::orders& orders) {
  std::vector<std::string> lines;
  for (const auto& one : all_of<supervisor::tell>(orders))
    lines.push_back(std::to_string(one.slot) + " " + one.line);
  return lines;
}

std::vector<std::pair<unsigned, int>> told_to_end(const supervisor::orders& orders) {
  std::vector<std::pair<unsigned, int>> all;
  for (const auto& one : all_of<supervisor::end_run>(orders))
    all.emplace_back(static_cast<unsigned>(one.slot), one.signal);
  return all;
}

/// A launch of processes that do as a test says. Node K can be joined at door "K".
class launch_of : public supervisor {
public:
  explicit launch_of(std::size_t nodes, std::size_t restarts = 0, double delay_s = 0)
      : supervisor({.hosts = std::vector<std::string>(nodes, "h"), .restarts = restarts, .restart_delay_s = delay_s}),
        nodes_(nodes) {
    begin(0);
  }

  /// Lets all nodes come, and the run begin.
  launch_of& under_way() {
    on_lead(0, "0", 0);
    for (std::size_t k = 1; k < nodes_; ++k)
      on_door(k, std::to_string(k));
    on_begin();
    return *this;
  }
  orders killed_at(double now_s, std::size_t slot) { return on_end(slot, killed, "", now_s); }

private:
  std::size_t nodes_;
};

TEST(supervisor, starts_the_others_when_the_first_says_where_it_leads) {
  supervisor s({.hosts = {"a", "b", "c"}});
  EXPECT_THAT(started(s.begin(0)), ElementsAre(0));
  const auto orders = s.on_lead(0, "10.0.0.1:7", 1);
  EXPECT_THAT(started(orders), ElementsAre(1, 2));
  for (const auto& one : all_of<supervisor::start_process>(orders))
    EXPECT_THAT(one.doors, ElementsAre("10.0.0.1:7"));
}

TEST(supervisor, says_who_was_killed_before_the_run_began) {
  for (const bool listens : {false, true}) {
    launch_of all(3);
    if (listens)
      all.on_lead(0, "0", 0);
    all.killed_at(1, 0);
    EXPECT_TRUE(all.is_over());
    ASSERT_TRUE(all.failed_start());
    EXPECT_EQ(all.failed_start()->sentence,
              "node 0 on h, which leads, was killed by signal 9 (Killed) before the run had begun");
    EXPECT_FALSE(all.loss());
  }
}

TEST(supervisor, leaves_words_to_a_leader_that_has_some) {
  launch_of all(3);
  all.on_end(0, 2, "unknown codec", 1);
  EXPECT_TRUE(all.is_over());
  EXPECT_FALSE(all.failed_start());
  EXPECT_EQ(all.status(), 2);
  launch_of alone(1);
  alone.on_end(0, 0, "done", 1);
  EXPECT_FALSE(alone.failed_start());
}

TEST(supervisor, speaks_for_a_leader_that_has_not_said_why_it_ends) {
  for (const auto& [nodes, programs, status, words, end] :
       {std::tuple{3, false, 1, "", "1 and without a word"}, std::tuple{2, false, 0, "one", "0: one"},
        std::tuple{2, true, 2, "no such file", "2: no such file"}}) {
    supervisor all({.hosts = std::vector<std::string>(nodes, "h"), .starts_programs = programs});
    all.begin(0);
    all.on_end(0, status, words, 1);
    EXPECT_TRUE(all.is_over());
    ASSERT_TRUE(all.failed_start());
    EXPECT_EQ(all.failed_start()->sentence,
              std::string{"node 0 on h, which leads, ended with status "} + end + " before the run had begun");
  }
}

TEST(supervisor, gives_up_a_node_that_does_not_start) {
  for (const auto& [status, words, sentence] : {std::tuple{127, "no such file", "ended with status 127: no such file"},
                                                std::tuple{3, "", "ended with status 3 and without a word"},
                                                std::tuple{killed, "", "was killed by signal 9 (Killed)"}}) {
    launch_of all(3);
    all.on_lead(0, "0", 0);
    const auto ends = all_of<supervisor::end_run>(all.on_end(1, status, words, 1));
    ASSERT_EQ(ends.size(), 1u);
    EXPECT_EQ(ends[0].signal, SIGTERM);
    EXPECT_FALSE(all.is_over());
    all.on_end(0, 1, "interrupted while it waited for nodes", 2);
    EXPECT_TRUE(all.is_over());
    EXPECT_EQ(all.failed_start()->slot, 1u);
    EXPECT_EQ(all.failed_start()->sentence, std::string{"node 1 on h "} + sentence);
  }
}

TEST(supervisor, blames_a_leader_that_was_killed_and_not_those_that_miss_it) {
  launch_of all(3);
  all.on_lead(0, "0", 0);
  all.on_end(1, 1, "the leader at 0 is lost", 1);
  all.killed_at(1, 0);
  EXPECT_EQ(all.failed_start()->slot, 0u);
}

TEST(supervisor, starts_again_who_was_killed_at_the_doors_of_the_others) {
  auto all = launch_of(4, 1).under_way();
  EXPECT_THAT(said(all.killed_at(1, 2)), ElementsAre("2 was killed by signal 9 (Killed)"));
  const auto orders = all.on_time(1);
  EXPECT_THAT(said(orders), ElementsAre("2 is started again (1 of 1)"));
  const auto starts = all_of<supervisor::start_process>(orders);
  ASSERT_EQ(starts.size(), 1u);
  EXPECT_EQ(starts[0].slot, 2u);
  EXPECT_THAT(starts[0].doors, ElementsAre("0", "1", "3"));
  EXPECT_EQ(all.restarts_of(2), 1u);
  all.killed_at(9, 1);
  EXPECT_THAT(all.on_time(20), IsEmpty()) << "that was the last restart";
}

TEST(supervisor, says_of_a_leader_that_it_has_led_though_the_next_one_was_heard_first) {
  auto all = launch_of(4, 9).under_way();
  all.on_lead(2, "2", 1);
  EXPECT_THAT(said(all.killed_at(1, 0)), ElementsAre("0 was killed by signal 9 (Killed); it has led the run"));
  all.on_time(1);
  EXPECT_THAT(said(all.killed_at(2, 0)), ElementsAre("0 was killed by signal 9 (Killed)"))
      << "the process that was started in its place has not led";
}

TEST(supervisor, does_not_wait_for_the_next_leader_before_it_starts_again) {
  auto all = launch_of(4, 9).under_way();
  EXPECT_THAT(said(all.killed_at(1, 0)), ElementsAre("0 was killed by signal 9 (Killed); it has led the run"));
  const auto starts = all_of<supervisor::start_process>(all.on_time(1));
  ASSERT_EQ(starts.size(), 1u);
  EXPECT_EQ(starts[0].slot, 0u);
  EXPECT_THAT(starts[0].doors, ElementsAre("1", "2", "3"));
  all.on_lead(2, "2", 2);
  EXPECT_EQ(all.leads(), 2u);
  all.on_door(0, "0b");
  all.killed_at(5, 3);
  EXPECT_THAT(all_of<supervisor::start_process>(all.on_time(5))[0].doors, ElementsAre("2", "0b", "1"))
      << "whoever leads comes first";
}

TEST(supervisor, counts_no_restart_that_is_refused) {
  auto all = launch_of(4, 1).under_way();
  all.killed_at(1, 2);
  for (double now = 2; now < 30; now += 3) {
    EXPECT_THAT(started(all.on_time(now)), ElementsAre(2));
    EXPECT_EQ(all.restarts_of(2), 1u);
    all.on_refusal(2);
    all.on_end(2, 1, "node 2 is there, or has not been missed yet", now + 0.1);
    EXPECT_EQ(all.restarts_of(2), 0u);
    EXPECT_THAT(all.on_time(now + 0.2), IsEmpty()) << "who has hardly begun would do so again";
  }
  EXPECT_THAT(started(all.on_time(40)), ElementsAre(2));
  all.on_door(2, "2b");
  all.killed_at(50, 2);
  EXPECT_THAT(all.on_time(60), IsEmpty()) << "this one counted";
}

TEST(supervisor, waits_as_long_as_it_was_told_before_it_starts_again) {
  auto all = launch_of(4, 9, 5).under_way();
  all.killed_at(1, 2);
  EXPECT_THAT(all.on_time(5.9), IsEmpty());
  EXPECT_THAT(started(all.on_time(6)), ElementsAre(2));
}

TEST(supervisor, leaves_alone_who_has_left_or_has_come_to_the_end) {
  auto all = launch_of(4, 9).under_way();
  all.on_departure(1);
  all.on_end(1, 0, "", 1);
  all.on_end(2, 0, "", 1);
  EXPECT_THAT(all.on_time(9), IsEmpty());
  EXPECT_FALSE(all.is_over());
}

TEST(supervisor, goes_on_when_the_leader_leaves) {
  for (const std::size_t nodes : {2u, 4u}) {
    auto all = launch_of(nodes, 9).under_way();
    all.on_departure(0);
    all.on_end(0, 0, "", 1);
    EXPECT_THAT(all.on_time(2), IsEmpty());
    EXPECT_FALSE(all.is_over());
    all.on_lead(1, "1", 2);
    all.on_end(1, 0, "", 9);
    EXPECT_TRUE(all.is_over());
    EXPECT_FALSE(all.loss());
    EXPECT_EQ(all.status(), 0);
  }
}

TEST(supervisor, ends_with_the_leader) {
  for (const int status : {0, 1, 130}) {
    auto all = launch_of(2).under_way();
    all.on_end(0, status, "words", 1);
    EXPECT_TRUE(all.is_over());
    EXPECT_FALSE(all.loss());
    EXPECT_EQ(all.status(), status);
  }
}

TEST(supervisor, says_that_all_were_killed) {
  auto all = launch_of(3).under_way();
  for (std::size_t k = 0; k < 3; ++k)
    all.killed_at(static_cast<double>(k), 2 - k);
  EXPECT_TRUE(all.is_over());
  ASSERT_TRUE(all.loss());
  EXPECT_EQ(*all.loss(),
            "nobody goes on with the run: node 0 on h, which led it last, was killed by signal 9 (Killed)");
}

TEST(supervisor, does_not_take_one_that_comes_for_one_that_goes_on) {
  auto all = launch_of(3, 9).under_way();
  all.killed_at(1, 1);
  EXPECT_THAT(started(all.on_time(1)), ElementsAre(1));
  all.killed_at(2, 2);
  EXPECT_THAT(started(all.on_time(2)), ElementsAre(2));
  all.killed_at(3, 0);
  EXPECT_TRUE(all.is_over()) << "the two that come know of no run";
  EXPECT_THAT(all.on_time(4), IsEmpty());
}

TEST(supervisor, takes_no_process_in_the_place_of_a_leader_for_the_leader) {
  for (const bool refused : {false, true}) {
    auto all = launch_of(3, 2).under_way();
    all.killed_at(2, 2);
    EXPECT_THAT(started(all.on_time(2)), ElementsAre(2));
    all.killed_at(3, 0);
    EXPECT_THAT(started(all.on_time(3)), ElementsAre(0)) << "node 1 may lead, as far as anybody has heard";
    EXPECT_FALSE(all.is_over());
    all.killed_at(4, 1);
    EXPECT_TRUE(all.is_over()) << "the two that come know of no run";
    if (refused) {
      all.on_refusal(0);
      all.on_end(0, 1, "nobody leads a run at 1", 5);
    }
    EXPECT_EQ(all.status(), killed);
    ASSERT_TRUE(all.loss());
    EXPECT_THAT(*all.loss(), HasSubstr("node 0 on h, which led it last, was killed by signal 9"));
    EXPECT_EQ(all.restarts_left(), 2u) << "nobody was let in";
  }
}

TEST(supervisor, does_not_wait_for_a_leader_for_ever) {
  auto all = launch_of(4).under_way();
  all.killed_at(1, 0);
  EXPECT_THAT(all.on_time(20), IsEmpty());
  EXPECT_FALSE(all.is_over());
  all.on_time(22);
  EXPECT_TRUE(all.is_over());
  EXPECT_THAT(*all.loss(), HasSubstr("which led it last, was killed"));
}

TEST(supervisor, tells_a_run_whose_survivors_are_too_few_from_one_that_failed) {
  auto all = launch_of(3).under_way();
  all.killed_at(1, 1);
  all.killed_at(1, 2);
  all.on_survival("run/survivors/node-0");
  all.on_end(0, 1, "most of the 3 nodes that vote on who takes part are lost", 2);
  EXPECT_TRUE(all.is_over());
  EXPECT_THAT(*all.loss(), AllOf(HasSubstr("nobody goes on"), HasSubstr("ended with status 1: most of the 3 nodes")));
  EXPECT_THAT(all.survivors(), ElementsAre("run/survivors/node-0"));
}

TEST(supervisor, does_not_take_a_run_for_lost_that_ends_after_a_node_was_cut_off) {
  auto all = launch_of(4, 9).under_way();
  all.on_survival("run/survivors/node-2");
  all.on_end(2, 1, "nothing has been heard of the leader for 3 s", 2);
  all.on_end(0, 0, "run holds config.toml, metrics.jsonl, summary.json and plot.svg", 9);
  EXPECT_TRUE(all.is_over());
  EXPECT_EQ(all.loss(), std::nullopt);
  EXPECT_EQ(all.status(), 0);
}

TEST(supervisor, passes_an_interrupt_on_once_also_to_the_next_leader) {
  auto all = launch_of(4, 9).under_way();
  EXPECT_EQ(all_of<supervisor::end_run>(all.on_interrupt(SIGTERM, 1)).size(), 1u);
  EXPECT_THAT(all.on_interrupt(SIGTERM, 1), IsEmpty());
  const auto orders = all.on_lead(1, "1", 2);
  ASSERT_EQ(all_of<supervisor::end_run>(orders).size(), 1u);
  EXPECT_EQ(all_of<supervisor::end_run>(orders)[0].slot, 1u);
  EXPECT_EQ(all_of<supervisor::end_run>(orders)[0].signal, SIGTERM);
  all.killed_at(3, 2);
  EXPECT_THAT(all.on_time(9), IsEmpty()) << "a run that ends needs nobody";
  all.on_end(1, 130, "", 10);
  EXPECT_TRUE(all.is_over());
  EXPECT_EQ(all.status(), 128 + SIGTERM) << "over ssh the leader hears of an end, and of no signal";
}

TEST(supervisor, ends_a_run_that_its_silent_leader_does_not_end) {
  auto all = launch_of(2).under_way();
  all.on_interrupt(SIGINT, 100);
  EXPECT_THAT(all.on_time(130), IsEmpty());
  EXPECT_FALSE(all.is_over());
  const auto orders = all.on_time(131);
  EXPECT_THAT(said(orders), ElementsAre("0 does not end the run: it has said nothing for 31 s, and is killed"));
  EXPECT_THAT(told_to_end(orders), ElementsAre(std::pair{0u, SIGKILL}, std::pair{1u, SIGTERM}));
  EXPECT_TRUE(all.is_over());
  EXPECT_THAT(all.on_time(132), IsEmpty());
  for (const bool is_killed : {false, true}) { // over ssh its process may stay
    if (is_killed)
      all.killed_at(133, 0);
    EXPECT_EQ(all.status(), 128 + SIGINT);
    EXPECT_FALSE(all.failed_start());
    EXPECT_FALSE(all.loss());
  }
}

TEST(supervisor, leaves_a_leader_that_says_something_or_is_followed_all_the_time_to_end) {
  auto all = launch_of(4).under_way();
  all.on_interrupt(SIGINT, 100);
  for (double now = 100; now < 200; now += 20) {
    all.on_words(0, now);
    EXPECT_THAT(all.on_time(now + 20), IsEmpty());
  }
  all.on_lead(1, "1", 205);
  all.on_words(0, 230);
  EXPECT_THAT(all.on_time(235), IsEmpty());
  EXPECT_THAT(told_to_end(all.on_time(236)),
              ElementsAre(std::pair{1u, SIGKILL}, std::pair{2u, SIGTERM}, std::pair{3u, SIGTERM}))
      << "node 0 does not lead any more, and has been told before";
}

TEST(supervisor, blames_a_silent_leader_for_those_that_miss_it) {
  launch_of all(3);
  all.on_lead(0, "0", 0);
  EXPECT_THAT(told_to_end(all.on_end(1, 1, "nothing has been heard of the leader for 10 s", 12)),
              ElementsAre(std::pair{0u, SIGTERM}));
  EXPECT_THAT(all.on_time(42), IsEmpty());
  EXPECT_THAT(told_to_end(all.on_time(43)), ElementsAre(std::pair{0u, SIGKILL}, std::pair{2u, SIGTERM}));
  EXPECT_TRUE(all.is_over());
  ASSERT_TRUE(all.failed_start());
  EXPECT_EQ(all.failed_start()->sentence,
            "node 0 on h, which leads, has said nothing for 31 s before the run had begun");
}

TEST(supervisor, tells_all_of_an_interrupt_while_nodes_join_and_blames_none) {
  launch_of all(3);
  all.on_lead(0, "0", 0);
  all.on_door(1, "1");
  EXPECT_THAT(told_to_end(all.on_interrupt(SIGINT, 1)),
              ElementsAre(std::pair{0u, SIGINT}, std::pair{1u, SIGINT}, std::pair{2u, SIGINT}));
  EXPECT_THAT(all.on_end(1, 1, "the leader says: interrupted while it waited for nodes", 2), IsEmpty());
  EXPECT_THAT(all.on_end(2, 128 + SIGINT, "", 2), IsEmpty());
  EXPECT_FALSE(all.is_over());
  all.on_end(0, 128 + SIGINT, "interrupted while it waited for nodes", 3);
  EXPECT_TRUE(all.is_over());
  EXPECT_FALSE(all.failed_start());
  EXPECT_EQ(all.status(), 128 + SIGINT);
}

TEST(supervisor, starts_nobody_and_tells_the_leader_once_when_the_interrupt_came_first) {
  launch_of all(3);
  EXPECT_THAT(told_to_end(all.on_interrupt(SIGINT, 0.1)), ElementsAre(std::pair{0u, SIGINT}));
  EXPECT_THAT(all.on_lead(0, "0", 0.2), IsEmpty()) << "a second signal would kill it";
  all.on_end(0, 128 + SIGINT, "", 0.3);
  EXPECT_TRUE(all.is_over());
}

TEST(supervisor, speaks_for_ssh_that_does_not_reach_the_leader) {
  launch_of all(3);
  all.on_end(0, 255, "ssh: connect to host h port 22: Connection refused", 1);
  ASSERT_TRUE(all.failed_start()) << "it is shown with the command";
  EXPECT_EQ(all.failed_start()->sentence, "node 0 on h, which leads, ended with status 255: ssh: connect to host h "
                                          "port 22: Connection refused before the run had begun");
}

} // namespace
} // namespace gossamer::apps
