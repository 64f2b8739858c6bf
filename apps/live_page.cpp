#include "gossamer/apps/detail/live_page.hpp"

#include "gossamer/actors/data_plane/access_token.hpp"
#include "gossamer/actors/telemetry/json.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace gossamer::apps {

namespace {

using enum line_history::importance;

page_server::settings settings_for(const live_options& wanted) {
  const bool port_alone = wanted.where.find(':') == std::string::npos;
  return {.where = actors::parse_endpoint(port_alone ? "127.0.0.1:" + wanted.where : wanted.where),
          .token = actors::access_token::drawn().text()};
}

std::string introduction(const run_setup& run, const std::string& command) {
  const auto& s = run.experiment->settings;
  const auto needs_graph = run.experiment->algorithm->traits.exchange != actors::exchange_pattern::all;
  return nlohmann::ordered_json{
      {"type", "run"},
      {"title", fmt::format("{} with {} worker{}", s.algorithm, s.workers, s.workers == 1 ? "" : "s")},
      {"about", fmt::format("{}: {}, {}, codec {}{}", command, s.data, s.model, s.codec,
                            needs_graph ? ", topology " + s.topology : "")},
      {"settings", to_text(s)}}
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

live_page::live_page(const live_options& wanted, const run_setup& run, const std::string& command)
    : observer_(std::make_shared<actors::deferred_observer>(thread_, std::make_shared<line_observer>(lines_))),
      server_(settings_for(wanted), lines_) {
  lines_->begin(introduction(run, command));
}

void live_page::end(const actors::run_summary& summary) {
  thread_.post([lines = lines_, how = to_string(summary.end)] {
    lines->add(newest, "end", nlohmann::ordered_json{{"type", "end"}, {"how", how}}.dump());
  });
  thread_.finish_within(actors::longest_farewell);
}

std::unique_ptr<live_page> open_page(const live_options& wanted, const run_setup& run, const std::string& command,
                                     const std::function<void(const std::string&)>& say) {
  if (wanted.where.empty())
    return nullptr;
  auto page = std::make_unique<live_page>(wanted, run, command);
  say("the run can be watched at " + page->url());
  return page;
}

} // namespace gossamer::apps
