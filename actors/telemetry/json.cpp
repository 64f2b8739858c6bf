#include "gossamer/actors/telemetry/json.hpp"

#include "gossamer/base/error.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace gossamer::actors {

namespace {

using json = nlohmann::ordered_json; // fields in the order in which they are documented

constexpr std::array<std::string_view, 5> event_kind_names{"note", "fault", "loss", "arrival", "leader"};

event_kind event_kind_from(std::string_view name) {
  const auto found = std::ranges::find(event_kind_names, name);
  return found == event_kind_names.end() ? event_kind::note : static_cast<event_kind>(found - event_kind_names.begin());
}

json fields(const evaluation_record& r) {
  json object{
      {"step", r.step},
      {"epoch", r.epoch},
      {"time_s", r.time_s},
      {"train_loss", r.train_loss},
      {"test_loss", r.test_loss},
      {"test_accuracy", r.test_accuracy ? json(*r.test_accuracy) : json(nullptr)},
      {"consensus_distance", r.consensus_distance},
      {"payload_bits", r.payload_bits},
      {"wire_bits", r.wire_bits},
  };
  if (r.payload_bits_between_islands)
    object["payload_bits_between_islands"] = *r.payload_bits_between_islands;
  if (r.averagings) {
    object["averagings_asked"] = r.averagings->asked;
    object["averagings_done"] = r.averagings->done;
    object["averagings_dropped"] = r.averagings->dropped;
  }
  return object;
}

const json& field(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end())
    throw error(errc::bad_data, fmt::format("there is no {}", key));
  return *found;
}

double real(const json& object, const char* key) {
  const auto& value = field(object, key);
  if (!value.is_number() && !value.is_null())
    throw error(errc::bad_data, fmt::format("{} is no number", key));
  return value.is_null() ? NAN : value.get<double>();
}

std::uint64_t count(const json& object, const char* key) {
  const auto& value = field(object, key);
  if (!value.is_number_unsigned())
    throw error(errc::bad_data, fmt::format("{} is no whole number from 0 on", key));
  return value.get<std::uint64_t>();
}

std::string text(const json& object, const char* key) {
  const auto& value = field(object, key);
  if (!value.is_string())
    throw error(errc::bad_data, fmt::format("{} is no text", key));
  return value.get<std::string>();
}

std::optional<double> real_if_known(const json& object, const char* key) {
  return field(object, key).is_null() ? std::nullopt : std::optional{real(object, key)};
}

template <class Number>
std::vector<Number> counts(const json& object, const char* key) {
  const auto& values = field(object, key);
  const auto fits = [](const json& one) {
    return one.is_number_unsigned() && one.get<std::uint64_t>() <= std::numeric_limits<Number>::max();
  };
  if (!values.is_array() || !std::ranges::all_of(values, fits))
    throw error(errc::bad_data, fmt::format("{} is no list of whole numbers from 0 on", key));
  return values.get<std::vector<Number>>();
}

json object_of(std::string_view line) {
  auto object = json::parse(line, nullptr, false);
  if (!object.is_object())
    throw error(errc::bad_data, "this is no JSON object");
  return object;
}

/// An object of one type, as a line. JSON knows no number that is not finite: such a number becomes null.
std::string line_of(const char* type, json rest) {
  json object{{"type", type}};
  object.update(rest);
  return object.dump(-1, ' ', false, json::error_handler_t::replace);
}

/// One member of each element, as an array.
template <class T>
json column(const std::vector<workers_record::counts>& all, T workers_record::counts::*member) {
  auto values = json::array();
  for (const auto& one : all)
    values.push_back(one.*member);
  return values;
}

json links_of(const workers_record& r) {
  auto rows = json::array();
  for (const auto& l : r.links)
    rows.push_back({l.from, l.to, l.bits_per_second});
  return rows;
}

/// Seconds in whole thousandths, which are short to write.
double rounded_s(std::int64_t ns) { return std::round(1e-6 * static_cast<double>(ns)) / 1e3; }

json waited_of(const workers_record& r) {
  auto rows = json::array();
  for (const auto& w : r.waited)
    rows.push_back({w.waiter, w.culprit, rounded_s(static_cast<std::int64_t>(w.ns))});
  return rows;
}

json used_of(const workers_record& r) {
  auto columns = json::object();
  for (const auto what : activities) {
    auto& column = columns[to_string(what)] = json::array();
    for (const auto& one : r.used)
      column.push_back(rounded_s(one.of(what)));
  }
  return columns;
}

} // namespace

std::string_view to_string(event_kind kind) noexcept { return event_kind_names[static_cast<std::size_t>(kind)]; }

std::string to_string(run_end end) {
  switch (end) {
  case run_end::planned:
    return "planned";
  case run_end::seconds:
    return "seconds";
  case run_end::interrupted:
    return "interrupted";
  }
  return "unknown";
}

std::string to_json(const evaluation_record& record) { return fields(record).dump(); }

evaluation_record evaluation_from_json(std::string_view line) {
  const auto object = object_of(line);
  evaluation_record r;
  r.step = count(object, "step");
  r.epoch = real(object, "epoch");
  r.time_s = real(object, "time_s");
  r.train_loss = real(object, "train_loss");
  r.test_loss = real(object, "test_loss");
  r.test_accuracy = real_if_known(object, "test_accuracy");
  r.consensus_distance = real(object, "consensus_distance");
  r.payload_bits = count(object, "payload_bits");
  r.wire_bits = count(object, "wire_bits");
  if (object.contains("payload_bits_between_islands"))
    r.payload_bits_between_islands = count(object, "payload_bits_between_islands");
  if (object.contains("averagings_done"))
    r.averagings = {count(object, "averagings_asked"), count(object, "averagings_done"),
                    count(object, "averagings_dropped")};
  return r;
}

std::optional<event_record> event_from_json(std::string_view line) {
  const auto object = object_of(line);
  if (text(object, "type") != "event")
    return {};
  return event_record{real(object, "time_s"), event_kind_from(text(object, "kind")), text(object, "what")};
}

progress_record progress_from_json(std::string_view line) {
  const auto object = object_of(line);
  progress_record r;
  for (const auto& [key, member] : {std::pair{"time_s", &progress_record::time_s},
                                    {"epoch", &progress_record::epoch},
                                    {"planned_epochs", &progress_record::planned_epochs},
                                    {"loss", &progress_record::loss},
                                    {"steps_per_second", &progress_record::steps_per_second},
                                    {"bits_per_second", &progress_record::bits_per_second},
                                    {"remaining_s", &progress_record::remaining_s}})
    r.*member = real(object, key);
  r.accuracy = real_if_known(object, "accuracy");
  r.averagings_per_step = real_if_known(object, "averagings_per_step");
  r.nodes = count(object, "nodes");
  r.nodes_lost = count(object, "nodes_lost");
  return r;
}

view_record view_from_json(std::string_view line) {
  const auto object = object_of(line);
  view_record r{.time_s = real(object, "time_s")};
  r.number = static_cast<std::uint32_t>(count(object, "number"));
  r.leader = static_cast<std::uint32_t>(count(object, "leader"));
  r.members = counts<std::uint32_t>(object, "members");
  r.masters = counts<std::uint32_t>(object, "masters");
  return r;
}

workers_record workers_from_json(std::string_view line) {
  const auto object = object_of(line);
  const auto steps = counts<std::uint64_t>(object, "steps");
  const auto payload = counts<std::uint64_t>(object, "payload_bits"), wire = counts<std::uint64_t>(object, "wire_bits");
  if (payload.size() != steps.size() || wire.size() != steps.size())
    throw error(errc::bad_data, "steps, payload_bits and wire_bits are of different numbers of workers");
  workers_record r{.time_s = real(object, "time_s")};
  for (std::size_t i = 0; i < steps.size(); ++i)
    r.of.push_back({steps[i], payload[i], wire[i]});
  r.has_islands = object.contains("payload_bits_between_islands");
  if (r.has_islands) {
    const auto crossed = counts<std::uint64_t>(object, "payload_bits_between_islands");
    if (crossed.size() != steps.size())
      throw error(errc::bad_data, "steps and payload_bits_between_islands are of different numbers of workers");
    for (std::size_t i = 0; i < steps.size(); ++i)
      r.of[i].payload_bits_between_islands = crossed[i];
  }
  return r;
}

std::string to_line(const evaluation_record& r) { return line_of("evaluation", fields(r)); }

std::string to_line(const progress_record& r) {
  return line_of("progress",
                 {{"time_s", r.time_s},
                  {"epoch", r.epoch},
                  {"planned_epochs", r.planned_epochs},
                  {"loss", r.loss},
                  {"accuracy", r.accuracy ? json(*r.accuracy) : json(nullptr)},
                  {"steps_per_second", r.steps_per_second},
                  {"bits_per_second", r.bits_per_second},
                  {"averagings_per_step", r.averagings_per_step ? json(*r.averagings_per_step) : json(nullptr)},
                  {"remaining_s", r.remaining_s},
                  {"nodes", r.nodes},
                  {"nodes_lost", r.nodes_lost}});
}

std::string to_line(const event_record& r) {
  return line_of("event", {{"time_s", r.time_s}, {"kind", to_string(r.kind)}, {"what", r.what}});
}

std::string to_line(const view_record& r) {
  return line_of("view", {{"time_s", r.time_s},
                          {"number", r.number},
                          {"leader", r.leader},
                          {"members", r.members},
                          {"masters", r.masters},
                          {"nodes", r.nodes},
                          {"edges", r.edges}});
}

std::string to_line(const workers_record& r) {
  json fields{{"time_s", r.time_s},
              {"steps", column(r.of, &workers_record::counts::steps)},
              {"payload_bits", column(r.of, &workers_record::counts::payload_bits)},
              {"wire_bits", column(r.of, &workers_record::counts::wire_bits)}};
  if (r.has_islands)
    fields["payload_bits_between_islands"] = column(r.of, &workers_record::counts::payload_bits_between_islands);
  fields.update({{"waits", r.waits ? json(*r.waits) : json(nullptr)},
                 {"links", links_of(r)},
                 {"waited_s", waited_of(r)},
                 {"used_s", r.used.empty() ? json(nullptr) : used_of(r)}});
  return line_of("workers", std::move(fields));
}

std::string to_json(const run_summary& s) {
  auto object = fields(s.final);
  object["algorithm"] = s.algorithm;
  object["workers"] = s.workers;
  object["seed"] = s.seed;
  object["end"] = to_string(s.end);
  object["steps_per_worker"] = s.steps_per_worker;
  json histogram = json::object();
  for (const auto& [age, count] : s.staleness)
    histogram[std::to_string(age)] = count;
  object["staleness"] = std::move(histogram);
  object["stale_frames"] = s.stale_frames;
  object["lost"] = s.lost;
  object["returned"] = s.returned;
  object["unreported"] = s.unreported;
  object["views"] = s.views;
  object["unfinished"] = s.unfinished;
  object["version"] = GOSSAMER_VERSION;
  return object.dump(2);
}

} // namespace gossamer::actors
