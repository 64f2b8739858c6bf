#include "gossamer/actors/telemetry/comparison.hpp"
#include "gossamer/actors/telemetry/json.hpp"
#include "gossamer/base/error.hpp"
#include "gossamer/base/file.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace gossamer::actors {

namespace fs = std::filesystem;

namespace {

constexpr auto remedy = "name folders that gossamer train has written";

constexpr std::uint64_t most_bytes = std::uint64_t{1} << 30, longest_line = std::uint64_t{1} << 20;

/// Replaces the remedy of errors, those of the system included.
template <class Action>
auto with_remedy(const Action& action) {
  try {
    return action();
  } catch (const error& e) {
    throw error(e.code(), e.sentence(), remedy);
  }
}

std::string read(const fs::path& file) {
  return with_remedy(
      [&] { return read_file(file.string(), {.noun = {}, .most_bytes = most_bytes, .remedy = remedy}); });
}

bool is_there(const fs::path& file) {
  return with_remedy([&] { return file_exists(file.string()); });
}

/// "ad-psgd, 4 workers".
std::string read_summary(const fs::path& file) {
  if (!is_there(file))
    return "unfinished";
  const auto summary = nlohmann::json::parse(read(file), nullptr, false);
  const auto has = [&](const char* key, auto is) { return summary.contains(key) && (summary[key].*is)(); };
  if (!summary.is_object() || !has("algorithm", &nlohmann::json::is_string)
      || !has("workers", &nlohmann::json::is_number_unsigned))
    throw error(errc::bad_data, fmt::format("{} names no algorithm and number of workers", file.string()), remedy);
  const auto workers = summary["workers"].get<std::size_t>();
  return fmt::format("{}, {} worker{}", summary["algorithm"].get<std::string>(), workers, workers == 1 ? "" : "s");
}

std::optional<std::string> read_settings_but_seed(const fs::path& file) {
  if (!is_there(file))
    return {};
  const auto text = read(file);
  std::string_view rest = text, line;
  std::string kept;
  while (take_line(rest, line))
    if (!line.starts_with('#') && !line.starts_with("seed "))
      kept.append(line).push_back('\n');
  return kept;
}

/// Calls a function with each whole line of a file. Its errors get the place in the file.
void visit_lines(const fs::path& file, const std::function<void(std::string_view line)>& visit) {
  std::size_t number = 0;
  const auto visit_next = [&](std::string_view line) {
    ++number;
    try {
      visit(line);
    } catch (const error& e) {
      throw error(e.code(), fmt::format("{}:{}: {}", file.string(), number, e.sentence()), e.remedy());
    }
  };
  with_remedy(
      [&] { read_lines(file.string(), {.noun = {}, .most_bytes = longest_line, .remedy = remedy}, visit_next); });
}

} // namespace

void visit_evaluations(const fs::path& folder,
                       const std::function<void(std::string_view line, const evaluation_record& read)>& visit) {
  visit_lines(folder / "metrics.jsonl", [&](std::string_view line) { visit(line, evaluation_from_json(line)); });
}

std::vector<event_record> read_events(const fs::path& folder) {
  std::vector<event_record> events;
  if (is_there(folder / "events.jsonl"))
    visit_lines(folder / "events.jsonl", [&](std::string_view line) {
      if (auto event = event_from_json(line))
        events.push_back(std::move(*event));
    });
  return events;
}

std::vector<evaluation_record> read_evaluations(const fs::path& folder) {
  std::vector<evaluation_record> evaluations;
  visit_evaluations(folder, [&](std::string_view, const evaluation_record& read) { evaluations.push_back(read); });
  return evaluations;
}

recorded_run read_run(const fs::path& folder) {
  auto evaluations = read_evaluations(folder);
  if (evaluations.empty())
    throw error(errc::bad_data, fmt::format("{} holds no evaluation", (folder / "metrics.jsonl").string()), remedy);
  return {fmt::format("{} ({})", folder.string(), read_summary(folder / "summary.json")), std::move(evaluations),
          read_events(folder), read_settings_but_seed(folder / "config.toml")};
}

} // namespace gossamer::actors
