#include "gossamer/apps/detail/live_page.hpp"

#include "gossamer/actors/data_plane/access_token.hpp"
#include "gossamer/actors/data_plane/local_address.hpp"
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
  return {.where = port_alone ? actors::endpoint{actors::loopback_address(),
                                                 actors::parse_endpoint("localhost:" + wanted.where).port}
                              : actors::parse_endpoint(wanted.where),
          .token = actors::access_token::drawn().text(),
          .control = wanted.control ? actors::access_token::drawn().text() : ""};
}

live_page::live_page(const run_setup& run, const std::string& command,
                     const std::shared_ptr<actors::fault_wishes>& wishes, const std::shared_ptr<pace>& held)
    : server_(settings_for(run.options.live), lines_, orders_for(run, wishes, held)) {
  const page_abilities can{.faults = wishes != nullptr, .holds = wishes != nullptr && held != nullptr};
  lines_->add("run", first_line(run.experiment->settings, command, can));
}

std::shared_ptr<actors::run_observer> live_page::observer() const {
  return std::make_shared<line_observer>(
      [lines = lines_](const auto& type, std::string line) { lines->add(type, std::move(line)); });
}

void live_page::end(const std::string& how) { lines_->add("end", last_line(how)); }

} // namespace gossamer::apps
