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

/// An injector whose node keeps the events that it hears of.
class injected {
public:
  explicit injected(std::shared_ptr<fault_board> board)
      : injector_(
          system_.spawn(fault_injector, injector_setup{.board = std::move(board), .workers = 4, .wishes = wishes})),
        node_(system_.spawn([this]() -> caf::behavior {
          return {[this](const run_event& m) { events.push_back(m.what); }, [](const pause_worker&) {}};
        })) {}
  injected(const injected&) = delete;
  injected& operator=(const injected&) = delete;
  ~injected() {
    for (const auto& one : {injector_, node_})
      caf::anon_send_exit(one, caf::exit_reason::kill);
    scheduler_.run();
  }

  void start(double time_s) { caf::anon_send(injector_, start_faults{node_, time_s}); }
  void pass(std::chrono::milliseconds time) {
    constexpr auto look = 100ms;
    for (scheduler_.run(); time.count() > 0; time -= look) {
      scheduler_.advance_time(look);
      scheduler_.run();
    }
  }

  std::shared_ptr<fault_wishes> wishes = std::make_shared<fault_wishes>();
  std::vector<std::string> events;

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

} // namespace
} // namespace gossamer::actors
