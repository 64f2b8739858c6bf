#include "gossamer/apps/detail/line_observer.hpp"

#include "gossamer/actors/telemetry/json.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace gossamer::apps {

void line_observer::on_progress(const actors::progress_record& r) { take_("progress", to_line(r)); }
void line_observer::on_evaluation(const actors::evaluation_record& r) { take_("evaluation", to_line(r)); }
void line_observer::on_event(const actors::event_record& r) { take_(event_type(to_string(r.kind)), to_line(r)); }
void line_observer::on_view(const actors::view_record& r) { take_("view", to_line(r)); }
void line_observer::on_workers(actors::workers_record r) { take_("workers", to_line(r)); }

std::string event_type(std::string_view kind) { return fmt::format("event-{}", kind); }

std::string first_line(const actors::run_settings& s, const std::string& command, const page_abilities& can) {
  const auto name = s.algorithm.substr(0, s.algorithm.find(':'));
  return nlohmann::ordered_json{
      {"type", "run"},
      {"title", fmt::format("{} with {} worker{}", name, s.workers, s.workers == 1 ? "" : "s")},
      {"about", fmt::format("{}: {}; {}, {}, codec {}, topology {}", command, s.algorithm, s.data, s.model, s.codec,
                            s.topology)},
      {"settings", to_text(s)},
      {"can", {{"faults", can.faults}, {"hold", can.holds}, {"processes", can.processes}}}}
      .dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace); // a folder's name may be anything
}

std::string last_line(const std::string& how) { return nlohmann::ordered_json{{"type", "end"}, {"how", how}}.dump(); }

} // namespace gossamer::apps
