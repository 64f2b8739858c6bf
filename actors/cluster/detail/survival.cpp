#include "gossamer/actors/cluster/detail/survival.hpp"

#include "gossamer/actors/cluster/detail/cluster_parts.hpp"
#include "gossamer/actors/hosting/last_states.hpp"
#include "gossamer/actors/hosting/messages.hpp"

#include <algorithm>

namespace gossamer::actors::detail {

namespace {

constexpr auto longest_rescue = std::chrono::seconds(2); // a worker may compute a gradient, or be paused

std::vector<saved_worker> states_of_workers(caf::scoped_actor& self, const caf::actor& node, what_is_left& known) {
  std::vector<saved_worker> parts;
  std::optional<what_is_left> answer;
  self->send(node, save_what_is_left{});
  const auto until = self->clock().now() + longest_rescue;
  while ((!answer || parts.size() < answer->workers) && self->clock().now() < until)
    self->receive([&](what_is_left& m) { answer = m; }, [&](saved_worker& part) { parts.push_back(std::move(part)); },
                  caf::after(look_every) >> [] {});
  known = answer.value_or(what_is_left{});
  return parts;
}

} // namespace

std::optional<resumption> rescued(caf::scoped_actor& self, const caf::actor& node, const experiment& e) {
  what_is_left known;
  auto parts = states_of_workers(self, node, known);
  const auto masters = std::ranges::count_if(parts, [&](const auto& part) { return e.is_master(part.who); });
  if (parts.empty() || static_cast<std::size_t>(masters) < e.masters)
    return std::nullopt;
  const bool synchronous = e.algorithm->traits.synchronous;
  const auto farthest = std::ranges::max(parts, {}, &saved_worker::checkpoint).checkpoint;
  resumption result;
  auto& all = result.all;
  all.checkpoint = std::max<std::uint64_t>(1, synchronous ? farthest : known.gradients);
  all.workers = e.settings.worker_ranks();
  all.masters = e.masters;
  all.time_s = known.time_s;
  auto gradients = known.gradients;
  for (auto& part : parts) {
    if (synchronous && part.checkpoint != farthest)
      continue;
    part.checkpoint = all.checkpoint;
    gradients -= std::min(gradients, e.is_master(part.who) ? 0 : part.gradients);
    all.parts[part.who] = {0, part.gradients, part.sent};
    result.parts.insert_or_assign(part.who, std::move(part));
  }
  all.former_gradients = gradients;
  all.steps = e.steps_of(all);
  all.samples = e.samples_of(all);
  return result;
}

} // namespace gossamer::actors::detail
