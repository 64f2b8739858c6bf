// The injector of faults, in virtual time.
#include "gossamer/actors/hosting/injector.hpp"

#include <caf/all.hpp>
#include <caf/scheduler/test_coordinator.hpp>
#include <gmock/gmock.h>

namespace gossamer::actors {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

caf::actor_system_config& with_virtual_time(caf::actor_system_config& config) {
  return config.set("scheduler.policy", caf::atom("testing"));
}

/// An injector whose node keeps the events that it hears of, and what it is to do.
class injected {
public:
  explicit injected(std::shared_ptr<fault_board> board, std::size_t masters = 0,
                    std::shared_ptr<fault_wishes> wished = std::make_shared<fault_wishes>())
      : wishes(std::move(wished)),
        injector_(system_.spawn(
            fault_injector,
            injector_setup{.board = std::move(board), .workers = 4, .masters = masters, .wishes = wishes})),
        node_(system_.spawn([this]() -> caf::behavior {
          return {[this](const run_event& m) { events.push_back(m.what); }, [](const pause_worker&) {},
                  [this](const kill_worker& m) { orders.push_back("kill " + std::to_string(m.who)); },
                  [this](const retire_worker& m) { orders.push_back("retire " + std::to_string(m.who)); },
                  [this](const restart_worker& m) {
                    orders.push_back((m.if_gone ? "restart if gone " : "restart ") + std::to_string(m.who));
                  }};
        })) {}
  injected(const injected&) = delete;
  injected& operator=(const injected&) = delete;
  ~injected() {
    for (const auto& one : {injector_, node_})
      caf::anon_send_exit(one, caf::exit_reason::kill);
    scheduler_.run();
  }

  void start(double time_s) { caf::anon_send(injector_, start_faults{node_, time_s}); }
  void stop() { caf::anon_send(injector_, stop_faults{}); }
  void pass(std::chrono::milliseconds time) {
    constexpr auto look = 100ms;
    for (scheduler_.run(); time.count() > 0; time -= look) {
      scheduler_.advance_time(look);
      scheduler_.run();
    }
  }

  void report(const step_report& r) { caf::anon_send(injector_, r); }
  /// Lets time pass. @returns the number of messages that the injector has sent itself for then
  std::size_t looks_in(std::chrono::milliseconds time) {
    scheduler_.run();
    return scheduler_.advance_time(time);
  }

  std::shared_ptr<fault_wishes> wishes;
  std::vector<std::string> events, orders;

private:
  caf::actor_system_config config_;
  caf::actor_system system_{with_virtual_time(config_)};
  caf::scheduler::test_coordinator& scheduler_ = dynamic_cast<caf::scheduler::test_coordinator&>(system_.scheduler());
  caf::actor injector_, node_;
};

fault pause_of(rank worker, double at_s, double lasts_s) {
  return {.kind = fault_kind::pause, .workers = {worker}, .at_s = at_s, .lasts_s = lasts_s};
}

std::shared_ptr<fault_board> live_board() {
  return std::make_shared<fault_board>(fault_plan{.faults = {}, .live = true}, 4, 1, 1);
}

TEST(an_injector_that_follows_another_one, ends_what_is_on_and_begins_nothing_again) {
  const auto board = live_board();
  board->add(0, pause_of(1, 1, 4));
  board->begin(0);
  board->add(2, pause_of(2, 1, 1)); // it is over; number 1 is not known here
  injected all{board};
  all.start(3);
  all.pass(1900ms);
  EXPECT_THAT(all.events, IsEmpty());
  EXPECT_THAT(board->awaited(), IsEmpty());
  all.pass(300ms);
  EXPECT_THAT(all.events, ElementsAre(HasSubstr("ends: worker 1 stands still")));
  EXPECT_FALSE(board->is_on(0));
}

TEST(an_injector_that_follows_another_one, begins_what_is_to_come_and_what_is_wished_for) {
  const auto board = live_board();
  board->add(0, pause_of(1, 4, 1));
  injected all{board};
  all.start(3);
  all.pass(0ms);
  EXPECT_THAT(board->awaited(), ElementsAre(pause_of(1, 4, 1)));
  all.wishes->add(pause_of(3, 0, 10));
  all.pass(500ms);
  EXPECT_THAT(all.events, ElementsAre(HasSubstr("begins: worker 3 stands still")));
  all.pass(1000ms);
  EXPECT_THAT(all.events, ElementsAre(HasSubstr("worker 3"), HasSubstr("begins: worker 1 stands still")));
  all.wishes->heal();
  all.pass(200ms);
  EXPECT_EQ(all.events.size(), 4u) << "all faults end";
  EXPECT_FALSE(board->is_on(0) || board->is_on(1));
}

TEST(an_injector_whose_process_leads_no_more, switches_nothing) {
  const auto board = live_board();
  board->add(0, pause_of(1, 0.5, 1));
  board->add(1, pause_of(2, 1.5, 1));
  board->add(2, {.kind = fault_kind::slow, .workers = {3}, .at_step = 10, .factor = 2});
  injected all{board};
  all.start(0);
  all.pass(1000ms);
  EXPECT_THAT(all.events, ElementsAre(HasSubstr("begins: worker 1 stands still")));
  all.stop();
  all.wishes->add(pause_of(0, 0, 1));
  all.report({.source = 3, .step = 10});
  all.pass(2000ms);
  EXPECT_EQ(all.events.size(), 1u);
}

TEST(an_injector_whose_process_leads_again, leaves_alone_what_the_other_leader_has_done) {
  const auto board = live_board();
  board->add(0, pause_of(1, 0.5, 1));
  board->add(1, pause_of(2, 1.5, 1)); // this one the other leader begins, and ends
  board->add(2, pause_of(3, 4, 0.5));
  injected all{board};
  all.start(0);
  all.pass(1000ms);
  all.stop();
  board->end(0); // as the other leader says
  all.pass(2000ms);
  all.start(3);
  all.pass(1900ms);
  EXPECT_THAT(all.events,
              ElementsAre(HasSubstr("worker 1"), HasSubstr("begins: worker 3"), HasSubstr("ends: worker 3")));
}

TEST(an_injector_whose_process_leads_again, looks_for_faults_once_in_a_while) {
  injected all{live_board()};
  for (int lead = 0; lead < 5; ++lead) { // sooner than it looks again
    all.start(0);
    all.stop();
  }
  all.start(0);
  EXPECT_EQ(all.looks_in(100ms), 6u) << "five of leads that are over";
  EXPECT_EQ(all.looks_in(100ms), 1u);
}

TEST(an_injector_that_alone_knows_the_plan, goes_on_wherever_the_leader_is) {
  injected all{std::make_shared<fault_board>(fault_plan{.faults = {pause_of(1, 0.5, 1)}}, 4, 1, 1), 0, nullptr};
  all.start(0);
  all.stop();
  all.pass(2000ms);
  EXPECT_EQ(all.events.size(), 2u);
}

// -- workers that several faults keep away ----------------------------------------------------------------------------

/// What the node of worker 1 is told.
std::vector<std::string> orders_of(std::vector<fault> faults, std::size_t masters = 0) {
  for (auto& f : faults)
    f.workers = {1};
  injected all{std::make_shared<fault_board>(fault_plan{std::move(faults)}, 4, 1, 1), masters};
  all.start(0);
  all.pass(5000ms);
  return all.orders;
}

using enum fault_kind;

TEST(a_worker_that_several_faults_keep_away, comes_back_when_the_last_of_them_ends) {
  const fault long_kill{.kind = kill, .at_s = 0.5, .lasts_s = 1}, short_kill{.kind = kill, .at_s = 0.7, .lasts_s = 0.1},
      short_leave{.kind = leave, .at_s = 0.7, .lasts_s = 0.1}, long_leave{.kind = leave, .at_s = 0.5, .lasts_s = 1};
  EXPECT_THAT(orders_of({long_kill}), ElementsAre("kill 1", "restart if gone 1"));
  EXPECT_THAT(orders_of({long_kill, short_kill}), ElementsAre("kill 1", "kill 1", "restart if gone 1"));
  EXPECT_THAT(orders_of({long_kill, short_leave}), ElementsAre("kill 1", "retire 1", "restart if gone 1"));
  EXPECT_THAT(orders_of({long_leave, short_kill}), ElementsAre("retire 1", "kill 1", "restart if gone 1"));
  EXPECT_THAT(orders_of({long_leave, short_leave}), ElementsAre("retire 1", "retire 1", "restart if gone 1"));
}

TEST(a_worker_that_several_faults_keep_away, stays_away_when_one_never_ends) {
  for (const auto for_ever : {kill, leave})
    EXPECT_THAT(orders_of({{.kind = kill, .at_s = 0.5, .lasts_s = 1}, {.kind = for_ever, .at_s = 0.7}}),
                ElementsAre("kill 1", testing::EndsWith(" 1")));
}

TEST(a_worker_that_several_faults_keep_away, comes_back_when_it_joins_and_stays_then) {
  EXPECT_THAT(orders_of({{.kind = kill, .at_s = 0.5, .lasts_s = 1}, {.kind = join, .at_s = 0.7}}),
              ElementsAre("kill 1", "restart if gone 1"));
  EXPECT_THAT(
      orders_of({{.kind = kill, .at_s = 0.5}, {.kind = join, .at_s = 1}, {.kind = kill, .at_s = 2, .lasts_s = 1}}),
      ElementsAre("kill 1", "restart if gone 1", "kill 1", "restart if gone 1"));
}

TEST(a_master_that_several_faults_keep_away, comes_back_although_one_never_ends) {
  EXPECT_THAT(orders_of({{.kind = kill, .at_s = 0.5, .lasts_s = 1}, {.kind = kill, .at_s = 0.7}}, 3),
              ElementsAre("kill 1", "kill 1", "restart if gone 1"));
}

TEST(an_injector_that_follows_another_one, knows_who_is_away) {
  const auto board = live_board();
  board->add(0, {.kind = kill, .workers = {1}, .at_s = 1, .lasts_s = 4});
  board->add(1, {.kind = kill, .workers = {1}, .at_s = 2, .lasts_s = 1.5});
  board->begin(0);
  board->begin(1);
  injected all{board};
  all.start(3);
  all.pass(1500ms);
  EXPECT_THAT(all.orders, IsEmpty());
  all.pass(1000ms);
  EXPECT_THAT(all.orders, ElementsAre("restart if gone 1"));
}

TEST(a_healed_fault, has_a_length_of_few_digits_and_a_join_has_none) {
  const auto board = live_board();
  injected all{board};
  all.start(0);
  all.pass(300ms);
  all.wishes->add(pause_of(3, 0, 10));
  all.wishes->add({.kind = join, .workers = {2}});
  all.pass(300ms);
  all.wishes->heal();
  all.pass(100ms);
  const auto text = to_toml(all.wishes->plan());
  EXPECT_THAT(text, testing::ContainsRegex("\nat = 0\\.[34]\nfor = 0\\.[23]\n")) << text;
  EXPECT_EQ(parse_plan(text, "plan").faults.size(), 2u) << "a join with an end would be refused";
}

} // namespace
} // namespace gossamer::actors
