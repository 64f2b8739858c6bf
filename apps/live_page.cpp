#include "gossamer/apps/detail/live_page.hpp"

#include "gossamer/actors/data_plane/access_token.hpp"
#include "gossamer/actors/telemetry/json.hpp"
#include "gossamer/base/error.hpp"
#include "gossamer/base/printable.hpp"
#include "gossamer/base/spec.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace gossamer::apps {

namespace {

using enum line_history::importance;

page_server::settings settings_for(const live_options& wanted) {
  const bool port_alone = wanted.where.find(':') == std::string::npos;
  return {.where = actors::parse_endpoint(port_alone ? "127.0.0.1:" + wanted.where : wanted.where),
          .token = actors::access_token::drawn().text(),
          .control = wanted.control ? actors::access_token::drawn().text() : ""};
}

/// Carries out orders of the page: "heal", the text of one fault, and for simulations "hold", "step", "go on" and
/// "speed X", X virtual seconds a second.
class order_desk {
public:
  order_desk(const run_setup& run, std::shared_ptr<actors::fault_wishes> wishes, std::shared_ptr<pace> held)
      : experiment_(run.experiment), world_(run.options.world), wishes_(std::move(wishes)), held_(std::move(held)) {}

  std::string obey(const std::string& order) const {
    if (order == "heal")
      return wishes_->heal(), "all faults end";
    if (order.find("[[") == std::string::npos)
      return set_pace(order);
    return strike(order);
  }

private:
  std::string set_pace(const std::string& order) const {
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

  std::string strike(const std::string& text) const {
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

  std::shared_ptr<const actors::experiment> experiment_;
  actors::simulation_settings world_;
  std::shared_ptr<actors::fault_wishes> wishes_;
  std::shared_ptr<pace> held_;
};

page_orders orders_for(const run_setup& run, const std::shared_ptr<actors::fault_wishes>& wishes,
                       std::shared_ptr<pace> held) {
  if (!wishes)
    return {};
  return {
      .obey = [desk = order_desk{run, wishes, std::move(held)}](const std::string& order) { return desk.obey(order); },
      .plan = [wishes] { return to_toml(wishes->plan()); }};
}

std::string introduction(const run_setup& run, const std::string& command, bool can_be_held) {
  const auto& s = run.experiment->settings;
  const auto needs_graph = run.experiment->algorithm->traits.exchange != actors::exchange_pattern::all;
  return nlohmann::ordered_json{{"type", "run"},
                                {"title", fmt::format("{} with {} worker{}", run.experiment->algorithm->about.name,
                                                      s.workers, s.workers == 1 ? "" : "s")},
                                {"about", fmt::format("{}: {}; {}, {}, codec {}{}", command, s.algorithm, s.data,
                                                      s.model, s.codec, needs_graph ? ", topology " + s.topology : "")},
                                {"settings", to_text(s)},
                                {"takes_orders", run.options.live.control},
                                {"can_be_held", can_be_held}}
      .dump();
}

} // namespace

void line_observer::on_progress(const actors::progress_record& r) { lines_->add(sampled, "progress", to_line(r)); }
void line_observer::on_evaluation(const actors::evaluation_record& r) {
  lines_->add(lasting, "evaluation", to_line(r));
}
void line_observer::on_event(const actors::event_record& r) { lines_->add(lasting, "event", to_line(r)); }
void line_observer::on_view(const actors::view_record& r) { lines_->add(newest, "view", to_line(r)); }
void line_observer::on_workers(actors::workers_record r) { lines_->add(newest, "workers", to_line(r)); }

live_page::live_page(const live_options& wanted, const run_setup& run, const std::string& command,
                     std::shared_ptr<pace> held)
    : wishes_(wanted.control ? std::make_shared<actors::fault_wishes>() : nullptr),
      observer_(std::make_shared<actors::deferred_observer>(thread_, std::make_shared<line_observer>(lines_))),
      server_(settings_for(wanted), lines_, orders_for(run, wishes_, held)) {
  lines_->begin(introduction(run, command, held != nullptr));
}

void live_page::end(const actors::run_summary& summary) {
  thread_.post([lines = lines_, how = to_string(summary.end)] {
    lines->add(newest, "end", nlohmann::ordered_json{{"type", "end"}, {"how", how}}.dump());
  });
  thread_.finish_within(actors::longest_farewell);
}

std::unique_ptr<live_page> open_page(const live_options& wanted, const run_setup& run, const std::string& command,
                                     const std::function<void(const std::string&)>& say, std::shared_ptr<pace> held) {
  if (wanted.where.empty())
    return nullptr;
  auto page = std::make_unique<live_page>(wanted, run, command, std::move(held));
  say("the run can be watched at " + page->url());
  return page;
}

} // namespace gossamer::apps
