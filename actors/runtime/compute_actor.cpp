#include "gossamer/actors/runtime/compute_actor.hpp"

#include "gossamer/actors/runtime/thread_time.hpp"

namespace gossamer::actors {

caf::behavior compute_actor(caf::event_based_actor* self, std::function<std::unique_ptr<gradient_source>()> make,
                            std::function<double()> slow_down, double fair_share, caf::actor supervisor,
                            std::string who) {
  report_exceptions_to(self, supervisor, who);
  self->monitor(supervisor);
  self->set_down_handler([self](caf::down_msg&) { self->quit(); });
  std::shared_ptr<gradient_source> source;
  return {[=](const gradient_job& job) mutable {
    if (!source)
      source = make();
    const double slower = slow_down();
    const auto began = self->clock().now();
    const auto worked = thread_time();
    auto result = source->compute(job);
    const auto worker = caf::actor_cast<caf::actor>(self->current_sender());
    if (slower == 1) {
      self->send(worker, std::move(result));
      return;
    }
    const auto wanted = slower * fair_share * (thread_time() - worked);
    const auto missing = std::chrono::duration_cast<std::chrono::nanoseconds>(wanted - (self->clock().now() - began));
    self->delayed_send(worker, std::max(missing, std::chrono::nanoseconds{0}), std::move(result));
  }};
}

} // namespace gossamer::actors
