#include "gossamer/base/settings_text.hpp"

#include "gossamer/base/printable.hpp"
#include "gossamer/base/registry.hpp"
#include "gossamer/base/toml_depth.hpp"

#include <fmt/ranges.h>
#include <toml++/toml.h>

#include <algorithm>
#include <sstream>

namespace gossamer {

namespace {

std::string location(const std::string& source, const toml::source_region& region) {
  return fmt::format("{}:{}", source, region.begin.line);
}

/// Returns the value of a key as text, however TOML spells it.
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

/// Returns the value of a setting as text; the items of an array are joined.
std::string as_value(const setting_key& key, const toml::node& node, const std::string& where) {
  const auto* items = node.as_array();
  if (items == nullptr || !key.repeatable())
    return as_text(node, where, key.name);
  std::vector<std::string> values;
  for (const auto& item : *items)
    values.push_back(as_text(item, where, key.name));
  return fmt::format("{}", fmt::join(values, key.joined_by));
}

toml::table parse(std::string_view text, const std::string& source) {
  expect_shallow_toml(text, source);
  try {
    return toml::parse(text);
  } catch (const toml::parse_error& e) {
    throw error(errc::usage, fmt::format("{}: {}", location(source, e.source()), e.description()));
  }
}

const setting_key& find_key(const std::vector<setting_key>& known, std::string_view key, const std::string& where) {
  if (const auto found = std::ranges::find(known, key, &setting_key::name); found != known.end())
    return *found;
  std::vector<std::string> names;
  std::ranges::transform(known, std::back_inserter(names), &setting_key::name);
  const auto problem = unknown_name("key", key, names);
  throw error(problem.code(), where + ": " + problem.sentence(), problem.remedy());
}

/// @param place of the table, in errors that name no line of their own
std::vector<given_setting> settings_of(const toml::table& table, const std::string& source, const std::string& place,
                                       const std::vector<setting_key>& known, bool open = false) {
  check_exclusions(
      known, [&](const std::string& name) { return table.contains(name); }, place);
  std::vector<given_setting> result;
  for (const auto& [key, node] : table) {
    const auto where = location(source, node.source());
    if (open && std::ranges::find(known, key.str(), &setting_key::name) == known.end())
      continue;
    const auto& found = find_key(known, key.str(), where);
    result.push_back({found.name, as_value(found, node, where), where});
  }
  return result;
}

toml::array array_of(std::string_view lines) {
  toml::array result;
  for (auto& line : split(lines, '\n'))
    result.push_back(std::move(line));
  return result;
}

/// "[[host]], [[link]]"
std::string names_of(const std::vector<table_kind>& kinds) {
  std::vector<std::string> names;
  std::ranges::transform(kinds, std::back_inserter(names),
                         [](const table_kind& kind) { return fmt::format("[[{}]]", kind.name); });
  return fmt::format("{}", fmt::join(names, ", "));
}

} // namespace

std::string number_text(std::uint64_t value) { return fmt::format("{}", value); }
std::string number_text(double value) {
  return fmt::format("{}", value + 0.0); // -0 becomes 0: as a whole number, which TOML reads in "-0", it has no sign
}

void expect_text(const std::string& name, const std::string& text) {
  if (text.empty())
    throw error(errc::usage, fmt::format("--{} is empty", name), "give it a value, or leave it out for its default");
  if (!is_utf8(text)) // TOML and JSON, which say what a run was, hold nothing else
    throw error(errc::usage, fmt::format("--{} is '{}', which is not UTF-8", name, text),
                "rename the file or folder, or name a link that leads there");
}

bool parse_switch(const std::string& name, const std::string& text) {
  if (text != "yes" && text != "no")
    throw error(errc::usage, fmt::format("--{} is '{}'", name, text), "allowed: yes or no");
  return text == "yes";
}

std::vector<given_setting> parse_settings(std::string_view text, const std::string& source,
                                          const std::vector<setting_key>& known) {
  return settings_of(parse(text, source), source, source, known);
}

std::vector<std::vector<given_table>> parse_tables(std::string_view text, const std::string& source,
                                                   const std::vector<table_kind>& kinds) {
  const auto whole = parse(text, source);
  std::vector<std::vector<given_table>> result(kinds.size());
  for (const auto& [key, node] : whole) {
    const auto kind = std::ranges::find(kinds, key.str(), &table_kind::name);
    const auto* tables = node.as_array();
    if (kind == kinds.end() || tables == nullptr || !tables->is_array_of_tables())
      throw error(errc::usage, fmt::format("{}: unexpected '{}'", location(source, node.source()), key.str()),
                  fmt::format("the file has tables {} and nothing else", names_of(kinds)));
    for (const auto& table : *tables) {
      const auto where = location(source, table.source());
      result[static_cast<std::size_t>(kind - kinds.begin())].push_back(
          {settings_of(*table.as_table(), source, where, kind->known, kind->open), where});
    }
  }
  return result;
}

void check_exclusions(const std::vector<setting_key>& known, const std::function<bool(const std::string&)>& given,
                      const std::string& where) {
  for (const auto& key : known)
    if (!key.excludes.empty() && given(key.name) && given(key.excludes))
      throw error(errc::usage,
                  where.empty() ? fmt::format("both --{} and --{} are given", key.name, key.excludes)
                                : fmt::format("{}: both {} and {} are given", where, key.name, key.excludes),
                  "leave one of them out");
}

std::string settings_line(const setting_key& key, std::string_view value) {
  if (key.number)
    return fmt::format("{} = {}\n", key.name, value);
  std::stringstream line;
  if (key.joined_by == "\n" && value.find('\n') != std::string_view::npos) // a single text is easier to read otherwise
    line << array_of(value);
  else
    line << toml::value<std::string>{std::string{value}};
  return fmt::format("{} = {}\n", key.name, line.str());
}

} // namespace gossamer
