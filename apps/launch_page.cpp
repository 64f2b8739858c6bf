#include "gossamer/apps/detail/launch_page.hpp"

#include "gossamer/actors/telemetry/json.hpp"
#include "gossamer/apps/detail/line_observer.hpp"
#include "gossamer/apps/detail/live_page.hpp"
#include "gossamer/apps/detail/write_all.hpp"
#include "gossamer/base/error.hpp"
#include "gossamer/base/printable.hpp"
#include "gossamer/base/spec.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <unistd.h>
#include <utility>

namespace gossamer::apps {

namespace {

constexpr double longest_stop_s = 1e6;
constexpr std::size_t most_orders_waiting = 100;

} // namespace

launch_order parse_launch_order(const std::string& text, std::size_t nodes) {
  const auto words = split(text, ' ');
  const auto node_in = [&](std::size_t expected) -> std::optional<std::size_t> {
    if (words.size() < expected)
      return std::nullopt; // the leader
    const auto k = parse_integer("the node", words[1], 0, static_cast<std::int64_t>(nodes) - 1);
    return static_cast<std::size_t>(k);
  };
  if (words.front() == "kill" && words.size() <= 2)
    return kill_process{node_in(2)};
  if (words.front() == "stop" && (words.size() == 2 || words.size() == 3))
    return stop_process{node_in(3), parse_real("the seconds", words.back(), 0, longest_stop_s)};
  return leaders_order{text};
}

launch_page::launch_page(const program& p, const live_options& wanted, std::size_t nodes) {
  page_orders orders;
  if (wanted.control)
    orders.obey = [waiting = waiting_, nodes](const std::string& text) -> std::string {
      auto order = parse_launch_order(text, nodes);
      const std::scoped_lock lock{waiting->mutex};
      if (waiting->orders.size() >= most_orders_waiting)
        throw error(errc::usage, "too many orders wait", "wait until the launcher has taken them");
      waiting->orders.push_back(std::move(order));
      return "ordered: see the events";
    };
  server_.emplace(settings_for(wanted), lines_, std::move(orders));
  write_all(STDERR_FILENO, fmt::format("{}: the run can be watched at {}\n", p.name(), server_->url()));
}

void launch_page::hear(const std::string& type, const std::string& line) {
  const auto object = nlohmann::json::parse(line, nullptr, false);
  if (!object.is_object())
    return;
  if (const auto time = object.find("time_s"); time != object.end() && time->is_number())
    time_s_ = std::max(time_s_, time->get<double>());
  lines_->add(type, line);
}

void launch_page::tell(const std::string& what) {
  const auto kind = actors::event_kind::fault;
  lines_->add(event_type(to_string(kind)), to_line(actors::event_record{time_s_, kind, printable(what)}));
}

void launch_page::end(const std::string& how) { lines_->add("end", last_line(how)); }

std::vector<launch_order> launch_page::take_orders() {
  const std::scoped_lock lock{waiting_->mutex};
  return std::exchange(waiting_->orders, {});
}

} // namespace gossamer::apps
