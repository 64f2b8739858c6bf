// Plan files: TOML to plan and back.
#include "gossamer/actors/faults/detail/keys.hpp"
#include "gossamer/base/file.hpp"
#include "gossamer/base/toml_depth.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include <algorithm>
#include <sstream>

namespace gossamer::actors {

namespace {

using detail::fault_key;

/// A node of the file and the name of the file: the place of an error.
struct place {
  std::string_view file;
  const toml::node& node;

  std::string text() const { return fmt::format("{}:{}", file, node.source().begin.line); }
};

[[noreturn]] void refuse_value(const fault_key& key, const fault& f, const place& at) {
  std::ostringstream value;
  value << toml::node_view{at.node};
  throw error(errc::usage, fmt::format("{}: {} of {} is {}", at.text(), key.name, to_string(f.kind), value.str()),
              fmt::format("{} takes {}", key.name, key.allowed()));
}

template <class T>
bool assign(std::vector<T>& items, const toml::node& from) {
  const auto* array = from.as_array();
  if (!array || array->empty())
    return false;
  for (const auto& item : *array) {
    const auto number = item.value_exact<std::int64_t>();
    if (!number || *number < 0 || static_cast<std::uint64_t>(*number) > std::numeric_limits<T>::max())
      return false;
    items.push_back(static_cast<T>(*number));
  }
  return true;
}

bool assign(double& number, const toml::node& from) {
  number = from.value<double>().value_or(0); // reads whole numbers, too
  return from.is_number();
}

bool assign(std::uint64_t& number, const toml::node& from) {
  const auto whole = from.value_exact<std::int64_t>();
  number = static_cast<std::uint64_t>(whole.value_or(0));
  return whole && *whole >= 0;
}

bool assign(bool& flag, const toml::node& from) {
  flag = from.value_exact<bool>().value_or(false);
  return from.is_boolean();
}

template <class T>
bool assign(std::optional<T>& into, const toml::node& from) {
  return assign(into.emplace(), from);
}

void assign(double& number, double value) { number = value; }
void assign(std::optional<double>& number, double value) { number = value; }
template <class T>
void assign(T&, double) {} // other members have no quantity

/// Sets a number, from a text with a unit where one is allowed. @returns false if the value is of another type
bool assign(fault& f, const fault_key& key, const place& at) {
  const auto* text = at.node.as_string();
  if (!key.of || text == nullptr)
    return std::visit([&](auto member) { return assign(f.*member, at.node); }, key.field);
  const auto subject = fmt::format("{}: {} of {}", at.text(), key.name, to_string(f.kind));
  const auto value = parse_quantity(*key.of, subject, text->get(), key.min, key.max);
  std::visit([&](auto member) { assign(f.*member, value); }, key.field);
  return true;
}

fault_kind kind_of(const toml::table& table, std::string_view file) {
  const auto* node = table.get("kind");
  const auto known = detail::kind_set::all().names();
  if (!node || !node->is_string())
    throw error(errc::usage, fmt::format("{}: this fault has no kind", place{file, table}.text()),
                fmt::format("write kind = \"...\" with one of {}", fmt::join(known, ", ")));
  const auto& name = node->as_string()->get();
  const auto found = std::ranges::find(known, name);
  if (found == known.end()) {
    const auto problem = unknown_name("kind of fault", name, known);
    throw error(problem.code(), fmt::format("{}: {}", place{file, *node}.text(), problem.sentence()), problem.remedy());
  }
  return static_cast<fault_kind>(found - known.begin());
}

const fault_key& find_key(std::string_view name, const fault& f, const place& at) {
  std::vector<std::string> known{"kind"};
  for (const auto& key : detail::fault_keys()) {
    if (key.name == name) {
      detail::check_use(key, f, at.text());
      return key;
    }
    if (key.takes.contains(f.kind))
      known.emplace_back(key.name);
  }
  const auto problem = unknown_name(fmt::format("key of {}", to_string(f.kind)), name, known);
  throw error(problem.code(), fmt::format("{}: {}", at.text(), problem.sentence()), problem.remedy());
}

fault read_fault(const toml::table& table, std::string_view file) {
  fault f;
  f.written_at.text = place{file, table}.text();
  f.kind = kind_of(table, file);
  for (const auto& [name, node] : table) {
    if (name.str() == "kind")
      continue;
    const place at{file, node};
    const auto& key = find_key(name.str(), f, at);
    if (!assign(f, key, at))
      refuse_value(key, f, at);
    detail::check_value(key, f, at.text());
  }
  detail::check_shape(f, f.written_at.text);
  return f;
}

template <class T>
std::string value_text(const std::vector<T>& items) {
  return fmt::format("[{}]", fmt::join(items, ", "));
}
template <class T>
std::string value_text(const std::optional<T>& value) {
  return fmt::format("{}", *value);
}
std::string value_text(double value) { return fmt::format("{}", value); }
std::string value_text(bool value) { return value ? "true" : "false"; }

} // namespace

fault_plan parse_plan(std::string_view toml, std::string_view file_name) {
  expect_shallow_toml(toml, file_name);
  toml::table table;
  try {
    table = toml::parse(toml);
  } catch (const toml::parse_error& e) {
    throw error(errc::usage, fmt::format("{}:{}: {}", file_name, e.source().begin.line, e.description()),
                "fault plans are TOML files");
  }
  fault_plan plan;
  for (const auto& [key, node] : table) {
    const place at{file_name, node};
    if (key.str() == "live" && assign(plan.live, node))
      continue;
    if (key.str() != "fault")
      throw error(errc::usage, fmt::format("{}: unknown key '{}'", at.text(), key.str()),
                  "each fault of a plan begins with a line [[fault]]; before them may stand live = true");
    const auto* array = node.as_array();
    if (!array || !std::ranges::all_of(*array, &toml::node::is_table))
      throw error(errc::usage, fmt::format("{}: fault is not a list of tables", at.text()),
                  "begin each fault with a line [[fault]], in double brackets");
    for (const auto& item : *array)
      plan.faults.push_back(read_fault(*item.as_table(), file_name));
  }
  return plan;
}

fault_plan read_plan(const std::filesystem::path& file) {
  return parse_plan(read_file(file.string(), {"fault plan", most_plan_bytes, "fault plans are TOML files"}),
                    file.string());
}

std::string to_toml(const fault_plan& plan) {
  std::string text = "# A fault plan: what goes wrong in a run, and when. Give it to a run with --faults THIS-FILE.\n";
  if (plan.live)
    text += "live = true # faults came while the run went on, at the times below\n";
  for (const auto& f : plan.faults) {
    text += fmt::format("\n# {}\n[[fault]]\nkind = \"{}\"\n", describe(f), to_string(f.kind));
    for (const auto& key : detail::fault_keys())
      if (key.given(f))
        text += fmt::format("{} = {}\n", key.name,
                            std::visit([&](auto member) { return value_text(f.*member); }, key.field));
  }
  return text;
}

} // namespace gossamer::actors
