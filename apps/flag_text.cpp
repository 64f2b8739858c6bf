#include "gossamer/apps/detail/flag_text.hpp"

#include "gossamer/apps/detail/job_form.hpp"

#include <fmt/ranges.h>

#include <algorithm>

namespace gossamer::apps {

namespace {

constexpr auto own_help = "--help";

/// Returns the flags in the order in which they were added, not in that of their addresses.
std::vector<std::string> names_of(const CLI::App& command, const std::set<CLI::Option*>& flags) {
  std::vector<std::string> names;
  for (const auto* one : command.get_options())
    if (flags.contains(const_cast<CLI::Option*>(one)) && !one->get_lnames().empty())
      names.push_back("--" + one->get_lnames().front());
  return names;
}

flag_text describe_flag(const CLI::App& command, const CLI::Option& o) {
  flag_text result;
  for (const auto& name : o.get_snames())
    result.names.push_back("-" + name);
  for (const auto& name : o.get_lnames())
    result.names.push_back("--" + name);
  result.word = o.get_positional() ? o.get_name(true) : "";
  result.meaning = o.get_description();
  result.standard = o.get_default_str();
  result.needs = names_of(command, o.get_needs());
  result.excludes = names_of(command, o.get_excludes());
  result.required = o.get_required();
  result.repeatable = o.get_expected_max() > 1;
  if (o.get_items_expected_max() == 0)
    return result;
  result.value = o.get_type_name();
  const auto mark = fmt::format(":{}", range_mark);
  if (const auto at = result.value.find(mark); at != std::string::npos) {
    result.range = result.value.substr(at + mark.size());
    result.value.resize(at);
  }
  return result;
}

/// Moves the flags that a heading names, in its order, out of `flags`.
flag_group below(const flag_heading& heading, std::vector<flag_text>& flags) {
  flag_group result{heading.title, {}};
  for (const auto& name : heading.flags) {
    const auto found =
        std::ranges::find_if(flags, [&](const flag_text& one) { return one.names.back() == "--" + name; });
    if (found == flags.end())
      continue;
    result.flags.push_back(std::move(*found));
    flags.erase(found);
  }
  return result;
}

} // namespace

std::string flag_text::usage() const {
  if (names.empty())
    return value + (repeatable ? "..." : "");
  return fmt::format("{}{}{}", fmt::join(names, ", "), value.empty() ? "" : " ", value);
}

std::string flag_text::sentence() const {
  std::vector<std::string> more;
  if (required && !names.empty())
    more.emplace_back("required");
  if (!standard.empty())
    more.push_back("default: " + standard);
  if (!range.empty())
    more.push_back(range);
  if (!needs.empty())
    more.push_back(fmt::format("needs {}", fmt::join(needs, " and ")));
  if (!excludes.empty())
    more.push_back(fmt::format("not with {}", fmt::join(excludes, " or ")));
  if (more.empty())
    return meaning;
  const auto joined = fmt::format("{}", fmt::join(more, "; "));
  // A meaning that ends with the default already has the brackets.
  if (meaning.ends_with(')') && meaning.rfind("(default") != std::string::npos)
    return fmt::format("{}; {})", meaning.substr(0, meaning.size() - 1), joined);
  return fmt::format("{} ({})", meaning, joined);
}

std::vector<flag_text> command_text::flags() const {
  std::vector<flag_text> all;
  for (const auto& group : groups)
    all.insert(all.end(), group.flags.begin(), group.flags.end());
  return all;
}

std::string command_text::usage() const {
  std::string line;
  for (const auto& flag : flags())
    if (flag.required)
      line += ' ' + flag.usage();
  line += " [FLAG...]";
  for (const auto& word : words)
    line += word.required ? ' ' + word.usage() : fmt::format(" [{}]", word.usage());
  const auto* job = form_of(name);
  return line.substr(1) + (job != nullptr ? job->usage() : "");
}

command_text describe(const CLI::App& command) {
  command_text result{command.get_name(), command.get_description(), command.get_footer(), {}, {}};
  std::vector<flag_text> rest;
  for (const auto* one : command.get_options())
    if (!one->get_group().empty())
      (one->get_positional() ? result.words : rest).push_back(describe_flag(command, *one));
  const auto help = std::ranges::find_if(rest, [](const flag_text& one) { return one.names.back() == own_help; });
  if (help != rest.end())
    std::rotate(help, help + 1, rest.end()); // to the end
  for (const auto& heading : headings_of(command.get_name()))
    if (auto group = below(heading, rest); !group.flags.empty())
      result.groups.push_back(std::move(group));
  if (!rest.empty())
    result.groups.push_back({result.groups.empty() ? "Flags" : "Other flags", std::move(rest)});
  return result;
}

std::vector<command_group> commands_of(const CLI::App& app) {
  std::vector<command_group> groups;
  for (const auto* command : app.get_subcommands({})) {
    const auto& title = command->get_group();
    auto found = std::ranges::find(groups, title, &command_group::title);
    if (found == groups.end())
      found = groups.insert(groups.end(), {title, {}});
    found->commands.push_back(command);
  }
  return groups;
}

} // namespace gossamer::apps
