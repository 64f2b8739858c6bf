#include "gossamer/apps/detail/live_page.hpp"

#include "gossamer/actors/data_plane/access_token.hpp"
#include "gossamer/apps/detail/line_observer.hpp"

#include <fmt/format.h>

namespace gossamer::apps {

namespace {

page_orders orders_for(const run_setup& run, const std::shared_ptr<actors::fault_wishes>& wishes,
                       const std::shared_ptr<pace>& held) {
  if (!wishes)
    return {};
  return {.obey = [desk = order_desk{run, wishes, held}](const std::string& order) { return desk.obey(order); },
          .plan = [wishes] { return to_toml(wishes->plan()); }};
}

} // namespace

page_server::settings settings_for(const live_options& wanted) {
  const bool port_alone = wanted.where.find(':') == std::string::npos;
  return {.where = actors::parse_endpoint(port_alone ? "127.0.0.1:" + wanted.where : wanted.where),
          .token = actors::access_token::drawn().text(),
          .control = wanted.control ? actors::access_token::drawn().text() : ""};
}

live_page::live_page(const live_options& wanted, const run_setup& run, const std::string& command,
                     const std::shared_ptr<actors::fault_wishes>& wishes, const std::shared_ptr<pace>& held)
    : observer_(std::make_shared<actors::deferred_observer>(
        thread_, std::make_shared<line_observer>([lines = lines_](auto how, const auto& type, std::string line) {
          lines->add(how, type, std::move(line));
        }))),
      server_(settings_for(wanted), lines_, orders_for(run, wishes, held)) {
  const page_abilities can{.faults = wishes != nullptr, .holds = wishes != nullptr && held != nullptr};
  lines_->add(line_history::importance::newest, "run", first_line(run.experiment->settings, command, can));
}

void live_page::end(const actors::run_summary& summary) {
  thread_.post([lines = lines_, how = to_string(summary.end)] {
    lines->add(line_history::importance::newest, "end", last_line(how));
  });
  thread_.finish_within(actors::longest_farewell);
}

std::unique_ptr<live_page> open_page(const run_setup& run, const std::string& command,
                                     const std::shared_ptr<actors::fault_wishes>& wishes,
                                     const std::function<void(const std::string&)>& say,
                                     const std::shared_ptr<pace>& held) {
  if (run.options.live.where.empty())
    return nullptr;
  auto page = std::make_unique<live_page>(run.options.live, run, command, wishes, held);
  say("the run can be watched at " + page->url());
  return page;
}

} // namespace gossamer::apps
