#include "gossamer/apps/detail/order_desk.hpp"

#include "gossamer/base/error.hpp"
#include "gossamer/base/printable.hpp"
#include "gossamer/base/spec.hpp"

#include <fmt/format.h>

namespace gossamer::apps {

std::string order_desk::obey(const std::string& order) const {
  if (order == "heal")
    return wishes_->heal(), "all faults end";
  if (order.find("[[") == std::string::npos)
    return set_pace(order);
  return strike(order);
}

std::string order_desk::set_pace(const std::string& order) const {
  if (!held_)
    throw error(errc::usage, "only a simulation can be held", "pause workers instead");
  constexpr std::string_view speed = "speed ";
  if (order == "hold")
    return held_->hold(), "the simulation waits";
  if (order == "step")
    return held_->step(), "a tenth of a virtual second";
  if (order == "go on")
    return held_->go_on(), "as fast as it can";
  if (!order.starts_with(speed))
    throw error(errc::usage, fmt::format("unknown order '{}'", printable(order)), "");
  const auto factor = parse_real("the speed", order.substr(speed.size()), 1e-6, 1e6);
  return held_->go_on(factor), fmt::format("{:g} virtual seconds a second", factor);
}

std::string order_desk::strike(const std::string& text) const {
  const auto plan = actors::parse_plan(text, "the order");
  if (plan.faults.size() != 1)
    throw error(errc::usage, fmt::format("an order is one fault, and not {}", plan.faults.size()), "");
  check_plan(plan, *experiment_, world_.workers_per_node);
  if (!world_.processes)
    check_without_processes(plan);
  if (!wishes_->add(plan.faults.front()))
    throw error(errc::usage, "too many faults wait to begin", "wait until the run has taken them");
  return fmt::format("{}: within a tenth of a second", to_string(plan.faults.front().kind));
}

} // namespace gossamer::apps
