// What a report shows of runs: their folders as JSON.
#include "gossamer/actors/faults/plan.hpp"
#include "gossamer/actors/telemetry/comparison.hpp"
#include "gossamer/apps/detail/options.hpp"
#include "gossamer/apps/detail/report.hpp"
#include "gossamer/apps/detail/shell_word.hpp"
#include "gossamer/base/file.hpp"
#include "gossamer/base/settings_text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>

namespace gossamer::apps {

namespace {

namespace fs = std::filesystem;
using json = nlohmann::ordered_json;

constexpr auto remedy = "name folders that gossamer has written";
constexpr std::uint64_t most_bytes_of_run = std::uint64_t{1} << 30;
constexpr std::size_t longest_waits = 600; // all pairs of 25 workers

std::string read(const fs::path& file) {
  return read_text(file.string(), {"file of a run", most_bytes_of_run, remedy});
}

/// Returns the object in a file; null where there is no such file.
json object_in(const fs::path& file) {
  if (!file_exists(file.string()))
    return nullptr;
  const auto text = read(file);
  try {
    auto object = json::parse(text);
    if (object.is_object())
      return object;
  } catch (const json::parse_error& e) {
    const auto end = text.begin() + static_cast<std::ptrdiff_t>(std::min(e.byte, text.size()));
    throw error(errc::bad_data,
                fmt::format("{}:{}: this is no JSON", file.string(), 1 + std::count(text.begin(), end, '\n')), remedy);
  } catch (const json::out_of_range&) {
    throw error(errc::bad_data, fmt::format("{}: a number is too large", file.string()), remedy);
  }
  throw error(errc::bad_data, fmt::format("{}: this is no JSON object", file.string()), remedy);
}

/// A number as short as a curve needs it.
json shortened(double value) {
  return std::isfinite(value) ? json(std::strtod(fmt::format("{:.7g}", value).c_str(), nullptr)) : json(nullptr);
}

/// Each k-th evaluation, and the last one.
json columns_of(const std::vector<actors::evaluation_record>& all) {
  json columns{{"step", json::array()},
               {"epoch", json::array()},
               {"time_s", json::array()},
               {"train_loss", json::array()},
               {"test_loss", json::array()},
               {"test_accuracy", json::array()},
               {"consensus_distance", json::array()},
               {"payload_bits", json::array()},
               {"wire_bits", json::array()}};
  const std::size_t every = all.size() / most_rows + 1;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i % every != 0 && i + 1 != all.size())
      continue;
    const auto& r = all[i];
    columns["step"].push_back(r.step);
    columns["epoch"].push_back(shortened(r.epoch));
    columns["time_s"].push_back(shortened(r.time_s));
    columns["train_loss"].push_back(shortened(r.train_loss));
    columns["test_loss"].push_back(shortened(r.test_loss));
    columns["test_accuracy"].push_back(shortened(r.test_accuracy.value_or(NAN)));
    columns["consensus_distance"].push_back(shortened(r.consensus_distance));
    columns["payload_bits"].push_back(r.payload_bits);
    columns["wire_bits"].push_back(r.wire_bits);
  }
  return columns;
}

json events_of(const fs::path& folder, std::size_t& left_out) {
  auto events = json::array();
  for (const auto& e : actors::read_events(folder)) {
    if (events.size() < most_rows)
      events.push_back({{"time_s", shortened(e.time_s)}, {"kind", to_string(e.kind)}, {"what", e.what}});
    else
      ++left_out;
  }
  return events;
}

json faults_of(const fs::path& folder, std::size_t& left_out) {
  auto faults = json::array();
  if (!file_exists((folder / "faults.toml").string()))
    return faults;
  for (const auto& f : actors::read_plan(folder / "faults.toml").faults) {
    if (faults.size() < most_rows)
      faults.push_back({{"what", describe(f)},
                        {"at_s", f.at_step ? json(nullptr) : shortened(f.at_s)},
                        {"lasts_s", f.lasts_s ? shortened(*f.lasts_s) : json(nullptr)}});
    else
      ++left_out;
  }
  return faults;
}

/// The table of waiting times, without the shortest waits.
json blame_of(const fs::path& folder, std::size_t& left_out) {
  auto blame = object_in(folder / "blame.json");
  if (blame.is_null())
    return blame;
  if (!blame.contains("waits") || !blame["waits"].is_array() || !blame.contains("workers")
      || !blame["workers"].is_array())
    throw error(errc::bad_data, fmt::format("{} has no workers and waits", (folder / "blame.json").string()), remedy);
  for (const auto* of : {"waits", "workers"}) {
    auto& rows = blame[of];
    const auto most = std::string_view{of} == "waits" ? longest_waits : most_rows;
    if (rows.size() <= most)
      continue;
    left_out += rows.size() - most;
    rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(most), rows.end());
  }
  return blame;
}

/// Returns the command that the first line of a configuration names; null if that says nothing.
json command_of(std::string_view config, const fs::path& file) {
  constexpr std::string_view before = "# ", place = "THIS-FILE", after = " repeats the run";
  const auto line = config.substr(0, config.find('\n'));
  const auto at = line.find(place);
  if (!line.starts_with(before) || !line.ends_with(after) || at == std::string_view::npos)
    return nullptr;
  const auto end = line.size() - after.size();
  return fmt::format("{}{}{}", line.substr(before.size(), at - before.size()), shell_word(file.string()),
                     line.substr(at + place.size(), end - at - place.size()));
}

using settings_of_run = std::map<std::string, std::string>;

json run_at(const std::string& name, settings_of_run& settings) {
  const fs::path folder{name};
  json run{{"name", name}, {"command", nullptr}};
  if (const auto file = folder / "config.toml"; file_exists(file.string())) {
    const auto text = read(file);
    run["command"] = command_of(text, file);
    for (const auto& given : parse_settings(text, file.string(), keys_of(simulate_options())))
      settings[given.name] = given.value;
  }
  const auto evaluations = actors::read_evaluations(folder);
  std::size_t events_left_out = 0, faults_left_out = 0, waits_left_out = 0;
  run["summary"] = object_in(folder / "summary.json");
  run["evaluations"] = columns_of(evaluations);
  run["events"] = events_of(folder, events_left_out);
  run["faults"] = faults_of(folder, faults_left_out);
  run["blame"] = blame_of(folder, waits_left_out);
  run["left_out"] = {{"evaluations", evaluations.size() - run["evaluations"]["step"].size()},
                     {"events", events_left_out},
                     {"faults", faults_left_out},
                     {"waits", waits_left_out}};
  return run;
}

/// The settings that any run has, in the order of the table of flags.
json settings_table_of(const std::vector<settings_of_run>& runs) {
  auto rows = json::array();
  for (const auto& o : simulate_options()) {
    auto values = json::array();
    bool any = false;
    for (const auto& run : runs) {
      const auto found = run.find(o.name);
      any = any || found != run.end();
      values.push_back(found != run.end() ? json(found->second) : json(nullptr));
    }
    if (any)
      rows.push_back({{"name", o.name}, {"help", o.help}, {"values", std::move(values)}});
  }
  return rows;
}

/// The characters that could end the element around the text, or begin another, can only be within strings.
std::string without_markup(std::string_view text) {
  std::string result;
  for (const char c : text)
    if (c == '<')
      result += "\\u003c";
    else
      result += c;
  return result;
}

} // namespace

std::string report_data(const std::vector<std::string>& folders) {
  std::vector<settings_of_run> settings;
  auto runs = json::array();
  for (const auto& folder : folders)
    runs.push_back(run_at(folder, settings.emplace_back()));
  const json all{{"version", GOSSAMER_VERSION}, {"settings", settings_table_of(settings)}, {"runs", std::move(runs)}};
  return without_markup(all.dump(-1, ' ', false, json::error_handler_t::replace));
}

} // namespace gossamer::apps
