#include "gossamer/apps/detail/launch_orders.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <csignal>

namespace gossamer::apps {

void launch_orders::obey(launch_page& page, double now_s) {
  for (const auto& order : page.take_orders())
    std::visit([&](const auto& one) { obey(one, page, now_s); }, order);
  std::erase_if(stopped_, [&](const auto& one) {
    const bool is_over = one.second <= now_s;
    if (is_over)
      signal(one.first, SIGCONT, "goes on", page);
    return is_over;
  });
}

void launch_orders::obey(const kill_process& m, launch_page& page, double) {
  signal(m.node.value_or(all_.leader()), SIGKILL, "is killed", page);
}

void launch_orders::obey(const stop_process& m, launch_page& page, double now_s) {
  const auto node = m.node.value_or(all_.leader());
  if (signal(node, SIGSTOP, fmt::format("is stopped for {:g} s", m.seconds), page))
    stopped_[node] = now_s + m.seconds;
}

void launch_orders::obey(const leaders_order& m, launch_page& page, double) {
  if (!all_.write_to_leader(nlohmann::json(m.text).dump()))
    page.tell("an order is left out, because the node that leads does not read those before it");
}

bool launch_orders::signal(std::size_t node, int signal, const std::string& done, launch_page& page) {
  const bool can = all_.signal(node, signal);
  page.tell(can ? fmt::format("the process of node {} {}", node, done)
                : fmt::format("node {} has no process on this machine", node));
  return can;
}

} // namespace gossamer::apps
