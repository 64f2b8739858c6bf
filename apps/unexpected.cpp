#include "gossamer/apps/detail/unexpected.hpp"

#include "gossamer/apps/detail/advise.hpp"
#include "gossamer/apps/detail/job_form.hpp"
#include "gossamer/apps/detail/options.hpp"
#include "gossamer/apps/detail/reproduce.hpp"
#include "gossamer/base/spec.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gossamer::apps {

namespace {

/// Returns the name in a flag such as `--workers=4`.
std::string name_of(std::string_view flag) { return std::string{flag.substr(0, flag.find('='))}; }

bool is_flag(std::string_view word) { return word.starts_with("--"); }

std::vector<std::string> flags_of(const CLI::App& command) {
  std::vector<std::string> names;
  for (const auto* option : command.get_options())
    for (const auto& name : option->get_lnames())
      names.push_back("--" + name);
  return names;
}

std::vector<std::string> commands_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const auto* command : app.get_subcommands({}))
    names.push_back(command->get_name());
  return names;
}

/// Returns the flag behind whose value a word stands; empty if there is none.
std::string flag_before(const std::vector<std::string>& given, const std::string& word, const CLI::App& command) {
  const auto takes_value = [&](const std::string& flag) {
    const auto* option = is_flag(flag) ? command.get_option_no_throw(name_of(flag)) : nullptr;
    return option != nullptr && option->get_items_expected_max() > 0;
  };
  const auto at = std::ranges::find(given, word);
  const auto has = [&](std::ptrdiff_t before) { return at != given.end() && at - given.begin() > before; };
  if (has(1) && at[-1].find('=') != std::string::npos && takes_value(at[-1]))
    return name_of(at[-1]);
  return has(2) && takes_value(at[-2]) && at[-2].find('=') == std::string::npos ? at[-2] : std::string{};
}

bool is_setting(const std::string& flag) {
  return flag == "--config" || flag == "--resume"
         || std::ranges::any_of(simulate_options(), [&](const option& o) { return flag == "--" + o.name; });
}

bool may_have(const job_form& job, const CLI::App& app, const std::string& flag) {
  return app.get_subcommand(std::string{job.command})->get_option_no_throw(flag) != nullptr
         && (!job.settings_only || is_setting(flag));
}

/// Refuses a flag that the command would also refuse behind `--`, where its own sentence is. @error errc::usage
void check_behind_dashes(const CLI::App& command, const std::string& flag) {
  if (command.get_name() == "advise")
    check_not_chosen({flag});
  if (command.get_name() != "reproduce")
    return;
  reproduce_options wanted;
  wanted.names = command.get_option("names")->results();
  wanted.all = command.count("--all") > 0;
  wanted.more = {flag};
  check_not_compared(wanted);
}

error without_command(const CLI::App& app, const std::string& word, const std::string& help) {
  if (is_flag(word))
    return {errc::usage, fmt::format("the command must come before '{}'", word),
            fmt::format("{} train {}", app.get_name(), word)};
  const auto meant = nearest(word, commands_of(app));
  return {errc::usage, fmt::format("unexpected argument '{}'", word),
          meant.empty() ? help : fmt::format("did you mean '{}'?", meant)};
}

error unknown_flag(const CLI::App& app, const CLI::App& command, const std::string& flag, const std::string& help) {
  if (command.get_name() == "train" && app.get_subcommand("simulate")->get_option_no_throw(flag) != nullptr)
    return {errc::usage, fmt::format("{} is a flag of simulations only", flag),
            fmt::format("{} simulate has it; in training the network is this machine's memory", app.get_name())};
  const auto* const job = form_of(command.get_name());
  if (job != nullptr && may_have(*job, app, flag)) {
    check_behind_dashes(command, flag);
    return {errc::usage, fmt::format("{} is a flag of {}, whose flags stand behind --", flag, job->command),
            fmt::format("{} {} {} {} ...", app.get_name(), command.get_name(), job->begins(), flag)};
  }
  const auto meant = nearest(flag, flags_of(command));
  return {errc::usage, fmt::format("unknown flag '{}'", flag),
          meant.empty() ? help : fmt::format("did you mean {}?", meant)};
}

} // namespace

error unexpected(const CLI::App& app, const std::vector<std::string>& given, const std::string& help) {
  const auto word = app.remaining(true).front();
  const auto commands = app.get_subcommands();
  if (commands.empty())
    return without_command(app, word, help);
  const auto& command = *commands.front();
  if (is_flag(word))
    return unknown_flag(app, command, name_of(word), help);
  if (const auto* job = form_of(command.get_name()); word == "train" && job != nullptr && job->command == word)
    return {errc::usage, fmt::format("'{}' stands before --", word),
            "what the nodes are to train follows behind it: -- train ..."};
  if (const auto flag = flag_before(given, word, command); !flag.empty())
    return {errc::usage, fmt::format("{} has one value, and '{}' follows it", flag, word),
            "leave one of them out; a flag that may be repeated stands before each of its values"};
  return {errc::usage, fmt::format("unexpected argument '{}'", word), help};
}

} // namespace gossamer::apps
