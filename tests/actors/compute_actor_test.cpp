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
caf::behavior asker(caf::event_based_actor* self, seen_threads* seen, std::shared_ptr<const experiment> e) {
  const auto compute = self->spawn<caf::detached>(
      compute_actor, compute_setup{.make =
                                       [=] {
                                         seen->computes.set_value(std::this_thread::get_id());
                                         return std::make_unique<gradient_source>(e, rank{0}, 0u);
                                       },
                                   .slow_down = [] { return 1.0; },
                                   .on_gradient = {},
                                   .supervisor = caf::actor_cast<caf::actor>(self),
                                   .who = "the compute actor"});
  self->send(compute, gradient_job{.step = 0, .x = e->initial});
  return {[=](const gradient_result&) {
    seen->goes_on.set_value(std::this_thread::get_id());
    self->quit();
  }};
}

TEST(compute_actor, lends_its_thread_to_a_worker_that_waits) {
  run_settings s;
  s.data = "quadratic:samples=40,dim=5";
  s.model = "quadratic";
  s.workers = 1;
  const auto e = prepare(s);
  caf::actor_system_config config;
  caf::actor_system system{config};
  // An actor takes a moment to begin to wait; until then the scheduler runs it.
  bool in_one_thread = false;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes{1};
  while (!in_one_thread && std::chrono::steady_clock::now() < deadline) {
    seen_threads seen;
    system.spawn(asker, &seen, e);
    in_one_thread = seen.goes_on.get_future().get() == seen.computes.get_future().get();
    system.await_all_actors_done(); // they refer to `seen`
  }
  EXPECT_TRUE(in_one_thread);
}

} // namespace
} // namespace gossamer::actors
