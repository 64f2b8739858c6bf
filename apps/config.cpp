// The settings of a run as a TOML file.
#include "gossamer/apps/detail/options.hpp"
#include "gossamer/base/error.hpp"
#include "gossamer/base/file.hpp"
#include "gossamer/base/toml_depth.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

namespace gossamer::apps {

namespace {

constexpr std::uint64_t most_bytes = std::uint64_t{1} << 20;

std::string location(const std::string& file, const toml::source_region& region) {
  return fmt::format("{}:{}", file, region.begin.line);
}

/// The value of a key as text, however TOML spells it.
std::string as_text(const toml::node& node, const std::string& where, std::string_view key) {
  if (const auto* string = node.as_string())
    return string->get();
  if (const auto* integer = node.as_integer())
    return fmt::format("{}", integer->get());
  if (const auto* real = node.as_floating_point())
    return fmt::format("{}", real->get());
  if (const auto* truth = node.as_boolean())
    return truth->get() ? "yes" : "no";
  throw error(errc::usage, fmt::format("{}: {} is neither text nor a number", where, key));
}

const option& find_option(const std::vector<option>& table, std::string_view key, const std::string& where) {
  if (const auto found = std::ranges::find(table, key, &option::name); found != table.end())
    return *found;
  if (std::ranges::count(simulate_options(), key, &option::name) > 0)
    throw error(errc::usage, fmt::format("{}: {} is a setting of simulations only", where, key),
                "remove it, or use the command simulate");
  std::vector<std::string> names;
  std::ranges::transform(table, std::back_inserter(names), &option::name);
  const auto problem = unknown_name("key", key, names);
  throw error(problem.code(), where + ": " + problem.sentence(), problem.remedy());
}

/// The value of an option as text: of an array, its items joined.
std::string as_value(const option& o, const toml::node& node, const std::string& where) {
  const auto* items = node.as_array();
  if (items == nullptr || !o.repeatable())
    return as_text(node, where, o.name);
  std::vector<std::string> values;
  for (const auto& item : *items)
    values.push_back(as_text(item, where, o.name));
  return fmt::format("{}", fmt::join(values, o.joined_by));
}

} // namespace

void read_config(const std::string& file, const std::vector<option>& table, run_options& into) {
  const auto text = read_file(file, {"configuration", most_bytes, "a configuration has a line for each setting"});
  expect_shallow_toml(text, file);
  toml::table given;
  try {
    given = toml::parse(text);
  } catch (const toml::parse_error& e) {
    throw error(errc::usage, fmt::format("{}: {}", location(file, e.source()), e.description()));
  }
  check_exclusions(
      table, [&](const std::string& name) { return given.contains(name); }, file);
  for (const auto& [key, node] : given) {
    const auto where = location(file, node.source());
    const auto& found = find_option(table, key.str(), where);
    try {
      found.set(into, as_value(found, node, where));
    } catch (const error& e) {
      throw error(e.code(), e.sentence().starts_with(where) ? e.sentence() : where + ": " + e.sentence(), e.remedy());
    }
  }
  if (given.contains("faults") && !into.faults.empty())
    into.faults = (std::filesystem::path(file).parent_path() / into.faults).string();
}

std::string write_config(std::string_view command, const std::vector<option>& table, const run_options& from) {
  auto result = fmt::format("# {} --config THIS-FILE repeats the run\n", command);
  for (const auto& o : table) {
    const auto value = o.get(from);
    if (value.empty() || o.name == "out") // a repetition goes to a folder of its own
      continue;
    std::stringstream quoted;
    quoted << toml::value<std::string>{value};
    result += fmt::format("{} = {}\n", o.name, o.number ? value : quoted.str());
  }
  return result;
}

} // namespace gossamer::apps
