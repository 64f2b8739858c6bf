#include "gossamer/actors/hosting/delivery_thread.hpp"
#include "gossamer/actors/hosting/messages.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <thread>

namespace gossamer::actors {

namespace {

/// Reports the thread in which it handles a frame, and sends another actor a frame.
caf::behavior teller(caf::event_based_actor* self, std::promise<std::thread::id>* where, const caf::actor& friend_of) {
  return {[=](const frame&) {
    where->set_value(std::this_thread::get_id());
    if (friend_of)
      self->send(friend_of, frame{});
  }};
}

class delivery_thread_test : public testing::Test {
protected:
  /// Returns the thread in which an actor handles a frame of `bytes` bytes that this thread delivers.
  std::thread::id handled(std::size_t bytes) {
    std::promise<std::thread::id> where;
    const auto waiting = system_.spawn(teller, &where, caf::actor{});
    std::this_thread::yield(); // lets the actor begin to wait where all threads share one processor
    frame f;
    f.body.payload = pool_.allocate(bytes);
    deliver(waiting, std::move(f));
    const auto result = where.get_future().get();
    caf::anon_send_exit(waiting, caf::exit_reason::user_shutdown);
    return result;
  }

  caf::actor_system_config config_;
  caf::actor_system system_{config_};
  buffer_pool pool_;
  const std::thread::id here_ = std::this_thread::get_id();
};

TEST_F(delivery_thread_test, lets_a_waiting_actor_handle_a_slice_right_here) {
  const delivery_thread companion{system_};
  // An actor takes a moment to begin to wait; until then the scheduler runs it.
  bool right_here = false;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes{1};
  while (!right_here && std::chrono::steady_clock::now() < deadline)
    right_here = handled(slice_bytes) == here_;
  EXPECT_TRUE(right_here);
}

TEST_F(delivery_thread_test, hands_long_frames_over) {
  const delivery_thread companion{system_};
  for (int k = 0; k < 100; ++k)
    ASSERT_NE(handled(2 * slice_bytes), here_);
}

TEST_F(delivery_thread_test, is_none_before_and_after) {
  EXPECT_NE(handled(100), here_);
  { const delivery_thread companion{system_}; }
  EXPECT_NE(handled(100), here_);
}

TEST_F(delivery_thread_test, leaves_whom_the_actor_tells_to_the_scheduler) {
  const delivery_thread companion{system_};
  for (int k = 0; k < 100; ++k) {
    std::promise<std::thread::id> first, second;
    const auto other = system_.spawn(teller, &second, caf::actor{});
    const auto waiting = system_.spawn(teller, &first, other);
    deliver(waiting, frame{});
    ASSERT_NE(second.get_future().get(), here_);
    for (const auto& one : {waiting, other})
      caf::anon_send_exit(one, caf::exit_reason::user_shutdown);
  }
}

} // namespace

} // namespace gossamer::actors
