#include "gossamer/actors/hosting/compute_actor.hpp"

#include <gtest/gtest.h>

#include <future>
#include <thread>

namespace gossamer::actors {
namespace {

struct seen_threads {
  std::promise<std::thread::id> computes, goes_on;
};

/// Asks for one gradient at x, as a worker does, and notes the thread in which it gets the result.
caf::behavior asker(caf::event_based_actor* self, seen_threads* seen, std::shared_ptr<const experiment> e,
                    bool lends_thread) {
  compute_setup setup;
  setup.make = [=] {
    seen->computes.set_value(std::this_thread::get_id());
    return std::make_unique<gradient_source>(e, rank{0}, 0u);
  };
  setup.slow_down = [] { return 1.0; };
  setup.lends_thread = lends_thread;
  setup.supervisor = caf::actor_cast<caf::actor>(self);
  setup.who = "the compute actor";
  self->send(self->spawn<caf::detached>(compute_actor, setup), gradient_job{.step = 0, .x = e->initial});
  return {[=](const gradient_result&) {
    seen->goes_on.set_value(std::this_thread::get_id());
    self->quit();
  }};
}

class compute_actor_test : public testing::Test {
protected:
  bool goes_on_where_it_was_computed(bool lends_thread) {
    seen_threads seen;
    system_.spawn(asker, &seen, experiment_, lends_thread);
    const bool result = seen.goes_on.get_future().get() == seen.computes.get_future().get();
    system_.await_all_actors_done(); // they refer to `seen`
    return result;
  }

private:
  static std::shared_ptr<const experiment> prepared() {
    run_settings s;
    s.data = "quadratic:samples=40,dim=5";
    s.model = "quadratic";
    s.workers = 1;
    return prepare(s);
  }

  std::shared_ptr<const experiment> experiment_ = prepared();
  caf::actor_system_config config_;
  caf::actor_system system_{config_};
};

TEST_F(compute_actor_test, lends_its_thread_to_a_worker_that_waits) {
  // An actor takes a moment to begin to wait; until then the scheduler runs it.
  bool lent = false;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes{1};
  while (!lent && std::chrono::steady_clock::now() < deadline)
    lent = goes_on_where_it_was_computed(true);
  EXPECT_TRUE(lent);
}

TEST_F(compute_actor_test, keeps_its_thread_to_itself_otherwise) {
  for (int k = 0; k < 100; ++k)
    ASSERT_FALSE(goes_on_where_it_was_computed(false));
}

} // namespace
} // namespace gossamer::actors
