#include "gossamer/base/spec.hpp"

#include "gossamer/base/check_entry.hpp"
#include "gossamer/base/registry.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numeric>

namespace gossamer {

namespace {

std::string join(const std::vector<std::string>& items) { return fmt::format("{}", fmt::join(items, ", ")); }

bool is_name(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  });
}

constexpr const char* name_rule = "names consist of small letters, digits, '-' and '_'";

/// Levenshtein distance.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0u);
  for (std::size_t i = 0; i < a.size(); ++i) {
    auto diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j)
      diagonal = std::exchange(row[j + 1], std::min({row[j] + 1, row[j + 1] + 1, diagonal + (a[i] == b[j] ? 0u : 1u)}));
  }
  return row.back();
}

/// @param within true for values that are allowed
template <class T, class Range>
T parse_number(std::string_view subject, std::string_view text, std::string_view kind, Range within,
               const std::string& allowed) {
  T value{};
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem == std::errc::invalid_argument || end != text.data() + text.size() || value != value)
    throw error(errc::usage, fmt::format("{} is '{}', which is not {}", subject, text, kind));
  if (problem == std::errc::result_out_of_range || !within(value))
    throw error(errc::usage, fmt::format("{} is {}, which is out of range", subject, text), "allowed: " + allowed);
  return value;
}

constexpr std::string_view real_kind = "a number", integer_kind = "a whole number";

struct unit {
  std::string_view name;
  double times, per; // 50 ms are 50 / 1e3 s: the nearest number to 0.05, as "0.05" is
};

constexpr std::array units_of_time{unit{"us", 1, 1e6}, unit{"ms", 1, 1e3}, unit{"s", 1, 1}, unit{"min", 60, 1},
                                   unit{"h", 3600, 1}};
constexpr std::array units_of_rate{unit{"b/s", 1, 1}, unit{"kb/s", 1e3, 1}, unit{"Mb/s", 1e6, 1}, unit{"Gb/s", 1e9, 1}};

struct quantity_terms {
  std::string_view noun, plain, example;
  std::span<const unit> units;
};

quantity_terms terms_of(quantity what) {
  return what == quantity::time ? quantity_terms{"a time", "seconds", "50ms", units_of_time}
                                : quantity_terms{"a rate", "bits per second", "20Mb/s", units_of_rate};
}

quantity quantity_of(parameter::type kind) { return kind == parameter::type::time ? quantity::time : quantity::rate; }

/// "grbs/ratio=8/blocks=64" -> "grbs:ratio=8,blocks=64"
std::string unfold(std::string text) {
  std::ranges::replace(text, '/', ',');
  if (const auto first = text.find(','); first != std::string::npos)
    text[first] = ':';
  return text;
}

void check(const std::string& subject, const parameter& p, const std::string& value) {
  const auto within = [&p](auto number) {
    return static_cast<double>(number) >= p.min && static_cast<double>(number) <= p.max;
  };
  switch (p.kind) {
  case parameter::type::integer:
    parse_number<std::int64_t>(subject, value, integer_kind, within, p.range());
    break;
  case parameter::type::real:
    parse_number<double>(subject, value, real_kind, within, p.range());
    break;
  case parameter::type::time:
  case parameter::type::rate:
    parse_quantity(quantity_of(p.kind), subject, value, p.min, p.max);
    break;
  case parameter::type::integers:
    for (const auto& item : split(value, '+'))
      parse_number<std::int64_t>("an item of " + subject, item, integer_kind, within, p.range());
    break;
  case parameter::type::choice:
    if (std::ranges::find(p.choices, value) == p.choices.end())
      throw error(errc::usage, fmt::format("{} is '{}'", subject, value), "allowed: " + p.range());
    break;
  case parameter::type::spec:
    spec::parse(unfold(value));
    break;
  case parameter::type::text:
  case parameter::type::path:
    // The written form of a full spec leaves empty values out, and would come back with the default.
    if (value.empty() && !p.fallback.empty())
      throw error(errc::usage, subject + " is empty", fmt::format("leave it out for {}={}", p.key, p.fallback));
    break;
  }
}

/// Takes a value off the front of a list: up to a comma, or in double quotes up to the closing ones.
std::string take_value(std::string_view& list, std::string_view whole) {
  if (!list.starts_with('"')) {
    const auto end = std::min(list.find(','), list.size());
    std::string value{list.substr(0, end)};
    list.remove_prefix(end);
    return value;
  }
  std::string value;
  for (list.remove_prefix(1); !list.empty(); list.remove_prefix(1)) {
    if (list.front() == '"') {
      list.remove_prefix(1);
      if (list.empty() || list.front() == ',')
        return value;
      if (list.front() != '"')
        break;
    }
    value += list.front();
  }
  throw error(errc::usage, fmt::format("the quotes in '{}' do not end where a value ends", whole),
              "a quote within quotes is written twice");
}

/// Returns the value in the form that `spec::parse` reads.
std::string quoted_if_needed(const std::string& value) {
  if (value.find(',') == std::string::npos && !value.starts_with('"'))
    return value;
  std::string text{'"'};
  for (const char c : value)
    text.append(c == '"' ? 2 : 1, c);
  return text + '"';
}

} // namespace

spec spec::parse(std::string_view text) {
  spec result;
  const auto colon = text.find(':');
  result.name = text.substr(0, colon);
  if (!is_name(result.name))
    throw error(errc::usage, fmt::format("'{}' is not of the form name:key=value,key=value", text));
  if (colon == std::string_view::npos)
    return result;
  for (auto list = text.substr(colon + 1);; list.remove_prefix(1)) {
    const auto equals = std::min(list.find('='), list.size());
    const auto key = list.substr(0, equals);
    if (equals == list.size() || !is_name(key))
      throw error(errc::usage,
                  fmt::format("'{}' in '{}' is not of the form key=value", list.substr(0, list.find(',')), text),
                  "a value that holds a comma stands in double quotes");
    if (std::ranges::any_of(result.values, [&](const auto& v) { return v.first == key; }))
      throw error(errc::usage, fmt::format("'{}' gives {} twice", text, key));
    list.remove_prefix(equals + 1);
    result.values.emplace_back(key, take_value(list, text));
    if (list.empty())
      return result;
  }
}

std::string spec::to_string() const {
  std::string text = name;
  for (const auto& [key, value] : values)
    text += fmt::format("{}{}={}", text.size() == name.size() ? ":" : ",", key, quoted_if_needed(value));
  return text;
}

std::string parameter::range() const {
  const auto bounds = [this](std::string_view noun) {
    if (std::isinf(min) && std::isinf(max))
      return std::string{noun};
    if (std::isinf(max))
      return fmt::format("{}, at least {}", noun, min);
    return fmt::format("{} in [{}, {}]", noun, min, max);
  };
  switch (kind) {
  case type::integer:
    return bounds("integer");
  case type::real:
    return bounds("number");
  case type::time:
    return bounds("time") + ", e.g. 50ms";
  case type::rate:
    return bounds("rate") + ", e.g. 20Mb/s";
  case type::integers:
    return bounds("integers joined by '+', each");
  case type::choice:
    return "one of " + join(choices);
  case type::spec:
    return "name/key=value/key=value";
  case type::text:
  case type::path:
    break;
  }
  return "text";
}

arguments::arguments(std::string_view what, const description& about, const spec& given) : name_(about.name) {
  const auto& schema = about.parameters;
  for (const auto& [key, value] : given.values) {
    if (std::ranges::none_of(schema, [&key = key](const parameter& p) { return p.key == key; })) {
      std::vector<std::string> known;
      std::ranges::transform(schema, std::back_inserter(known), &parameter::key);
      throw unknown_name(fmt::format("parameter of {} '{}'", what, name_), key, known);
    }
  }
  for (const auto& p : schema) {
    const auto subject = fmt::format("{} of {} '{}'", p.key, what, name_);
    const auto found = std::ranges::find(given.values, p.key, [](const auto& v) { return v.first; });
    if (p.required && (found == given.values.end() || found->second.empty()))
      throw error(errc::usage, fmt::format("{} '{}' needs {}", what, name_, p.key),
                  fmt::format("write {}:{}=..., where {} is {}", name_, p.key, p.key, p.meaning));
    values_.emplace_back(p.key, found == given.values.end() ? p.fallback : found->second);
    if (found != given.values.end())
      check(subject, p, found->second);
  }
}

const std::string& arguments::text(std::string_view key) const {
  const auto found = std::ranges::find(values_, key, [](const auto& v) { return std::string_view{v.first}; });
  GOSSAMER_ASSERT(found != values_.end(), "only parameters of the schema are read");
  return found->second;
}

std::string arguments::nested(std::string_view key) const { return unfold(text(key)); }

std::int64_t arguments::integer(std::string_view key) const {
  return parse_integer(key, text(key), INT64_MIN, INT64_MAX);
}

double arguments::real(std::string_view key) const {
  const auto& given = text(key);
  const auto what = given.ends_with("b/s") ? quantity::rate : quantity::time;
  return parse_quantity(what, key, given, -HUGE_VAL, HUGE_VAL); // the schema has refused other kinds
}

std::vector<std::int64_t> arguments::integers(std::string_view key) const {
  std::vector<std::int64_t> result;
  if (!text(key).empty())
    for (const auto& item : split(text(key), '+'))
      result.push_back(parse_integer(key, item, INT64_MIN, INT64_MAX));
  return result;
}

spec arguments::resolved() const {
  spec result{name_, {}};
  for (const auto& value : values_)
    if (!value.second.empty())
      result.values.push_back(value);
  return result;
}

std::string nearest(std::string_view name, const std::vector<std::string>& known) {
  std::string best;
  auto smallest = std::max<std::size_t>(2, name.size() / 3) + 1;
  for (const auto& candidate : known) {
    const bool begins = name.size() >= 2 && candidate.starts_with(name);
    const auto distance = begins ? 1 : edit_distance(name, candidate);
    if (distance < smallest) {
      smallest = distance;
      best = candidate;
    }
  }
  return best;
}

error unknown_name(std::string_view what, std::string_view name, const std::vector<std::string>& known) {
  const auto suggestion = nearest(name, known);
  return {errc::usage, fmt::format("unknown {} '{}'", what, name),
          (suggestion.empty() ? "" : fmt::format("did you mean '{}'? ", suggestion))
              + (known.empty() ? "it has none" : "known: " + join(known))};
}

void check_entry(std::string_view what, const description& about, std::initializer_list<needed_function> functions) {
  if (!is_name(about.name))
    throw error(errc::usage, fmt::format("{} '{}' has a name that no flag can carry", what, about.name), name_rule);
  for (const auto& f : functions)
    if (!f.is_there)
      throw error(errc::usage, fmt::format("{} '{}' has no function `{}`", what, about.name, f.name),
                  "set it in the entry");
  for (auto p = about.parameters.begin(); p != about.parameters.end(); ++p) {
    const auto subject = fmt::format("{} of {} '{}'", p->key, what, about.name);
    if (!is_name(p->key))
      throw error(errc::usage, fmt::format("{} '{}' has a parameter '{}'", what, about.name, p->key), name_rule);
    if (std::find_if(about.parameters.begin(), p, [p](const auto& q) { return q.key == p->key; }) != p)
      throw error(errc::usage, fmt::format("{} '{}' has two parameters '{}'", what, about.name, p->key),
                  "give each a name of its own");
    if (!p->required && !(p->fallback.empty() && p->kind == parameter::type::spec))
      check("the default of " + subject, *p, p->fallback);
  }
}

error made_nothing(std::string_view what, std::string_view name, std::string_view function) {
  return {errc::usage, fmt::format("{} '{}' made nothing: its function `{}` returned null", what, name, function),
          "it has to return an object, or to throw an error"};
}

error name_taken(std::string_view what, std::string_view name) {
  return {errc::usage, fmt::format("there are two of the name '{}' ({})", name, what),
          "give the program's own one another name"};
}

double parse_real(std::string_view subject, std::string_view text, double min, double max) {
  const auto within = [=](double number) { return number >= min && number <= max; };
  return parse_number<double>(subject, text, real_kind, within, fmt::format("{} to {}", min, max));
}

std::int64_t parse_integer(std::string_view subject, std::string_view text, std::int64_t min, std::int64_t max) {
  const auto within = [=](std::int64_t number) { return number >= min && number <= max; };
  return parse_number<std::int64_t>(subject, text, integer_kind, within, fmt::format("{} to {}", min, max));
}

double parse_quantity(quantity what, std::string_view subject, std::string_view text, double min, double max) {
  const auto terms = terms_of(what);
  double value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  const auto suffix = text.substr(static_cast<std::size_t>(end - text.data()));
  const auto known = std::ranges::find(terms.units, suffix, &unit::name);
  if (problem == std::errc::invalid_argument || value != value || (!suffix.empty() && known == terms.units.end())) {
    std::vector<std::string_view> names;
    std::ranges::transform(terms.units, std::back_inserter(names), &unit::name);
    throw error(errc::usage, fmt::format("{} is '{}', which is not {}", subject, text, terms.noun),
                fmt::format("write {}, or a number with {} behind it, such as {}", terms.plain, fmt::join(names, ", "),
                            terms.example));
  }
  if (!suffix.empty())
    value = value * known->times / known->per;
  if (problem == std::errc::result_out_of_range || !(value >= min && value <= max))
    throw error(errc::usage, fmt::format("{} is {}, which is out of range", subject, text),
                std::isinf(max) ? fmt::format("allowed: at least {} {}", min, terms.plain)
                                : fmt::format("allowed: {} to {} {}", min, max, terms.plain));
  return value;
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (;;) {
    const auto end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos)
      return parts;
    text.remove_prefix(end + 1);
  }
}

} // namespace gossamer
