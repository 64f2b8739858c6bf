#include "gossamer/actors/simulated/detail/simulated_gradients.hpp"

#include "gossamer/actors/simulated/detail/simulation.hpp"

#include <algorithm>
#include <utility>

namespace gossamer::actors::detail {

void simulated_gradients::begin(caf::actor asker, virtual_time takes, gradient_result result) {
  const auto begins = all_.empty() ? world_.now() : std::max(world_.now(), all_.back().ends);
  all_.push_back({std::move(asker), std::move(result), begins, later(begins, takes)});
  ask_for_look(all_.back().ends);
}

void simulated_gradients::stand_still() {
  book();
  stands_still_ = true;
}

/// Lays out what is left of all gradients from now on. Looks at their former ends find nothing done.
void simulated_gradients::go_on() {
  if (!std::exchange(stands_still_, false))
    return;
  auto free_at = world_.now();
  for (auto& g : all_) {
    g.ends = later(free_at, g.ends - g.begins);
    g.begins = std::exchange(free_at, g.ends);
    ask_for_look(g.ends);
  }
}

bool simulated_gradients::look() {
  if (stands_still_ || all_.empty() || all_.front().ends > world_.now())
    return false;
  book();
  auto done = std::move(all_.front());
  all_.erase(all_.begin());
  world_.observer().computed(who_, done.result.step, done.result.loss);
  caf::anon_send(done.asker, std::move(done.result));
  return true;
}

void simulated_gradients::book() {
  if (is_over_ || stands_still_ || all_.empty())
    return;
  auto& present = all_.front();
  const auto until = std::min(world_.now(), present.ends);
  world_.observer().computes(who_, present.result.step, present.begins, until);
  present.begins = until;
}

void simulated_gradients::end_life() {
  book();
  is_over_ = true;
}

void simulated_gradients::ask_for_look(virtual_time when) { world_.at(when, gradient_is_due{shared_from_this()}); }

} // namespace gossamer::actors::detail
