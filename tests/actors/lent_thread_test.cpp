#include "gossamer/actors/hosting/lent_thread.hpp"

#include <gtest/gtest.h>

#include <future>
#include <thread>

namespace gossamer::actors {
namespace {

struct where {
  std::promise<std::thread::id> first, second;
};

/// Reports the thread in which it gets a number, and passes it on.
caf::behavior reporter(caf::event_based_actor* self, std::promise<std::thread::id>* here, const caf::actor& next) {
  return {[=](int n) {
    here->set_value(std::this_thread::get_id());
    if (next)
      self->send(next, n);
  }};
}

class lent_thread_test : public testing::Test {
protected:
  /// Sends a number through two actors. @param lends_to_both false: the second may not run in this thread
  /// @returns the threads that handled it
  std::pair<std::thread::id, std::thread::id> handled(bool lends_to_both) {
    where seen;
    const auto second = system_.spawn(reporter, &seen.second, caf::actor{});
    const auto first = system_.spawn(reporter, &seen.first, second);
    {
      lent_thread here{system_, {first, lends_to_both ? second : first}};
      here.send(first, 1);
    }
    const auto result = std::pair{seen.first.get_future().get(), seen.second.get_future().get()};
    for (const auto& one : {first, second})
      caf::anon_send_exit(one, caf::exit_reason::user_shutdown);
    return result;
  }

  caf::actor_system_config config_;
  caf::actor_system system_{config_};
  const std::thread::id here_ = std::this_thread::get_id();
};

TEST_F(lent_thread_test, runs_actors_that_wake_each_other) {
  // An actor takes a moment to begin to wait; until then the scheduler runs it. None is lost in either case.
  bool both_here = false;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes{1};
  while (!both_here && std::chrono::steady_clock::now() < deadline) {
    const auto [first, second] = handled(true);
    both_here = first == here_ && second == here_;
  }
  EXPECT_TRUE(both_here);
}

TEST_F(lent_thread_test, leaves_all_others_to_the_scheduler) {
  for (int k = 0; k < 100; ++k)
    ASSERT_NE(handled(false).second, here_);
}

TEST_F(lent_thread_test, does_nothing_for_actors_that_have_ended) {
  const auto gone = system_.spawn<caf::event_based_actor>(); // without a behaviour it ends at once
  caf::scoped_actor self{system_};
  self->wait_for(gone);
  lent_thread here{system_, {gone}};
  here.send(gone, 1);
}

TEST_F(lent_thread_test, keeps_the_system_from_ending) {
  const auto one = system_.spawn(reporter, nullptr, caf::actor{});
  const auto before = system_.registry().running();
  {
    const lent_thread here{system_, {one}};
    EXPECT_EQ(system_.registry().running(), before + 1) << "of the actors that a system waits for";
  }
  EXPECT_EQ(system_.registry().running(), before);
  caf::anon_send_exit(one, caf::exit_reason::user_shutdown);
}

} // namespace
} // namespace gossamer::actors
