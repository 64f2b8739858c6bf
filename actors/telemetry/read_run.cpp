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

constexpr std::uint64_t most_bytes = std::uint64_t{1} << 30;

std::string read(const fs::path& file) {
  try {
    return read_file(file.string(), {.noun = {}, .most_bytes = most_bytes, .remedy = remedy});
  } catch (const error& e) {
    throw error(e.code(), e.sentence(), remedy);
  }
}

/// "ad-psgd, 4 workers".
std::string read_summary(const fs::path& file) {
  if (!fs::exists(file))
    return "unfinished";
  const auto summary = nlohmann::json::parse(read(file), nullptr, false);
  const auto has = [&](const char* key, auto is) { return summary.contains(key) && (summary[key].*is)(); };
  if (!summary.is_object() || !has("algorithm", &nlohmann::json::is_string)
      || !has("workers", &nlohmann::json::is_number_unsigned))
    throw error(errc::bad_data, fmt::format("{} names no algorithm and number of workers", file.string()), remedy);
  const auto workers = summary["workers"].get<std::size_t>();
  return fmt::format("{}, {} worker{}", summary["algorithm"].get<std::string>(), workers, workers == 1 ? "" : "s");
}

} // namespace

std::vector<evaluation_record> read_evaluations(const fs::path& folder) {
  const auto file = folder / "metrics.jsonl";
  auto text = read(file);
  text.erase(text.rfind('\n') + 1); // what is not a line yet was being written when the run was killed
  std::vector<evaluation_record> evaluations;
  std::string_view rest = text, line;
  for (std::size_t number = 1; take_line(rest, line); ++number) {
    try {
      evaluations.push_back(evaluation_from_json(line));
    } catch (const error& e) {
      throw error(e.code(), fmt::format("{}:{}: {}", file.string(), number, e.sentence()), remedy);
    }
  }
  return evaluations;
}

recorded_run read_run(const fs::path& folder) {
  auto evaluations = read_evaluations(folder);
  if (evaluations.empty())
    throw error(errc::bad_data, fmt::format("{} holds no evaluation", (folder / "metrics.jsonl").string()), remedy);
  return {fmt::format("{} ({})", folder.string(), read_summary(folder / "summary.json")), std::move(evaluations)};
}

} // namespace gossamer::actors
