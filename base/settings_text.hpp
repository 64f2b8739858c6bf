#pragma once

#include "gossamer/base/error.hpp"
#include "gossamer/base/setting.hpp"

#include <algorithm>
#include <string_view>

namespace gossamer {

/// A setting that a text gives.
struct given_setting {
  std::string name;
  std::string value; ///< the items of an array are joined
  std::string where; ///< "run.toml:3", for messages
};

/// Reads a TOML text of lines `key = value`. The text is not trusted: its nesting is bounded.
/// @param source name of the text in messages: its file
/// @param known  the keys that are allowed
/// @returns the given settings, ascending by key
/// @error errc::usage with source:line on a syntax error, an unknown key, a value that is neither text nor number, or
///        two that exclude each other
std::vector<given_setting> parse_settings(std::string_view text, const std::string& source,
                                          const std::vector<setting_key>& known);

/// One kind of tables, `[[name]]`, that a text may have.
struct table_kind {
  std::string name;
  std::vector<setting_key> known;
  bool open = false; ///< other keys are left out: another reader takes them
};

/// The settings that one table gives, ascending by key.
struct given_table {
  std::vector<given_setting> settings;
  std::string where; ///< "hosts.toml:3", for messages
};

/// Reads a text of such tables, with such lines in each and no others; otherwise as `parse_settings`.
/// @returns for each kind its tables, in their order
std::vector<std::vector<given_table>> parse_tables(std::string_view text, const std::string& source,
                                                   const std::vector<table_kind>& kinds);

/// @param given true if one place gives a setting of this name
/// @param where that place, for the message; empty: a command line
/// @error errc::usage when two are given that exclude each other
void check_exclusions(const std::vector<setting_key>& known, const std::function<bool(const std::string&)>& given,
                      const std::string& where);

/// Returns the line that `parse_settings` reads back.
std::string settings_line(const setting_key& key, std::string_view value);

template <class Settings>
std::vector<setting_key> keys_of(const settings_table<Settings>& table) {
  return {table.begin(), table.end()};
}

/// Sets one setting of the table. @error errc::usage with source:line on a bad value
template <class Settings>
void apply(const given_setting& given, const settings_table<Settings>& table, Settings& into) {
  const auto found = std::ranges::find(table, given.name, &setting_key::name);
  GOSSAMER_ASSERT(found != table.end(), "the text was parsed with the keys of this table");
  try {
    found->set(into, given.value);
  } catch (const error& e) {
    const bool says_where = e.sentence().starts_with(given.where);
    throw error(e.code(), says_where ? e.sentence() : given.where + ": " + e.sentence(), e.remedy());
  }
}

/// Returns all settings that are set, a line each.
template <class Settings>
std::string to_text(const settings_table<Settings>& table, const Settings& from) {
  std::string result;
  for (const auto& one : table)
    if (const auto value = one.get(from); !value.empty())
      result += settings_line(one, value);
  return result;
}

} // namespace gossamer
