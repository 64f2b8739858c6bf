#pragma once

#include "gossamer/base/spec.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace gossamer {

template <class T>
struct interval {
  T min, max;
};

/// Name of a setting, and the form of its value.
struct setting_key {
  std::string name;  ///< in a file the key, on a command line the flag `--name`
  std::string value; ///< what the value is called in the help
  std::string help;
  std::string joined_by = {}; ///< separator of a setting that may be repeated, in a file as an array: `set` gets all
                              ///< values as one text
  bool number = false;        ///< in a file: without quotes
  std::string excludes = {};  ///< another setting that must not be given beside this one

  bool repeatable() const { return !joined_by.empty(); }
};

/// One member of `Settings`, as text. Threads: safe (immutable).
template <class Settings>
struct setting : setting_key {
  std::function<std::string(const Settings&)> get;        ///< as a user would write it; empty when not set
  std::function<void(Settings&, const std::string&)> set; ///< @error errc::usage
};

/// All that can be set, in the order in which it is listed and written.
template <class Settings>
using settings_table = std::vector<setting<Settings>>;

// -- one of each kind -------------------------------------------------------------------------------------------------

/// @error errc::usage when the text is empty: what is not set is left out; or no UTF-8, which TOML cannot hold
void expect_text(const std::string& name, const std::string& text);

template <class Settings>
setting<Settings> text_setting(setting_key key, std::string Settings::*at) {
  const auto name = key.name;
  return {std::move(key), [at](const Settings& s) { return s.*at; },
          [=](Settings& s, const std::string& given) {
            expect_text(name, given);
            s.*at = given;
          }};
}

/// @error errc::usage unless the text is a number within the limits
template <class T>
T parse_number(const std::string& name, const std::string& text, interval<T> allowed) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(parse_integer("--" + name, text, static_cast<std::int64_t>(allowed.min),
                                        static_cast<std::int64_t>(allowed.max)));
  else
    return parse_real("--" + name, text, allowed.min, allowed.max);
}

std::string number_text(std::uint64_t value);
std::string number_text(double value); ///< with enough digits to tell it from every other number

template <class Settings, class T>
setting<Settings> number_setting(setting_key key, T Settings::*at, interval<T> allowed) {
  key.number = true;
  const auto name = key.name;
  return {std::move(key), [at](const Settings& s) { return number_text(s.*at); },
          [=](Settings& s, const std::string& given) { s.*at = parse_number(name, given, allowed); }};
}

/// A setting that need not be set.
template <class Settings, class T>
setting<Settings> number_setting(setting_key key, std::optional<T> Settings::*at, interval<T> allowed) {
  key.number = true;
  const auto name = key.name;
  return {std::move(key), [at](const Settings& s) { return s.*at ? number_text(*(s.*at)) : std::string{}; },
          [=](Settings& s, const std::string& given) { s.*at = parse_number(name, given, allowed); }};
}

/// A time or a rate in the spelling of `parse_quantity`. It is written back as a plain number.
/// @param at a number, or an optional one
template <class Settings, class T>
setting<Settings> quantity_setting(quantity what, setting_key key, T Settings::*at, interval<double> allowed) {
  auto result = number_setting(std::move(key), at, allowed);
  result.set = [what, name = "--" + result.name, at, allowed](Settings& s, const std::string& given) {
    s.*at = parse_quantity(what, name, given, allowed.min, allowed.max);
  };
  return result;
}

/// @error errc::usage unless the text is yes or no
bool parse_switch(const std::string& name, const std::string& text);

template <class Settings>
setting<Settings> switch_setting(setting_key key, bool Settings::*at) {
  key.value = "yes|no";
  const auto name = key.name;
  return {std::move(key), [at](const Settings& s) { return std::string{s.*at ? "yes" : "no"}; },
          [=](Settings& s, const std::string& given) { s.*at = parse_switch(name, given); }};
}

/// A setting that excludes another one: only one of the two may be given at a time, and the later one counts.
/// @param clear resets the other one
template <class Settings, class Clear>
setting<Settings> instead_of(setting<Settings> one, std::string other, Clear clear) {
  one.excludes = std::move(other);
  one.set = [set = std::move(one.set), clear](Settings& s, const std::string& given) {
    set(s, given);
    clear(s);
  };
  return one;
}

/// The setting of a part, as a setting of the `Whole` that contains this part.
template <class Whole, class Part>
setting<Whole> setting_of_part(setting<Part> inner, Part Whole::*part) {
  return {static_cast<const setting_key&>(inner), [=](const Whole& s) { return inner.get(s.*part); },
          [=](Whole& s, const std::string& given) { inner.set(s.*part, given); }};
}

} // namespace gossamer
