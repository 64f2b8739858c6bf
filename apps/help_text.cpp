#include "gossamer/apps/detail/help_text.hpp"

#include "gossamer/apps/detail/terminal.hpp"

#include <algorithm>
#include <unistd.h>
#include <utility>

namespace gossamer::apps {

namespace {

using entries = std::vector<std::pair<std::string, std::string>>; // a name, and what it means

constexpr std::size_t longest_name = 26; // of an entry whose meaning begins on the same line

/// Returns the column in which the meanings of all entries begin.
std::size_t column_of(const std::vector<entries>& all) {
  std::size_t longest = 0;
  for (const auto& some : all)
    for (const auto& [name, meaning] : some)
      if (name.size() <= longest_name)
        longest = std::max(longest, name.size());
  return longest + 4;
}

void append(std::string& to, const entries& some, std::size_t column, std::size_t width) {
  for (const auto& [name, meaning] : some) {
    to += "  " + name;
    if (meaning.empty())
      to += '\n';
    else if (name.size() + 4 <= column)
      to += std::string(column - name.size() - 2, ' ') + wrapped(meaning, column, column, width) + '\n';
    else
      to += '\n' + std::string(column, ' ') + wrapped(meaning, column, column, width) + '\n';
  }
}

entries entries_of(const std::vector<flag_text>& flags) {
  entries result;
  for (const auto& one : flags)
    result.emplace_back(one.usage(), one.sentence());
  return result;
}

} // namespace

std::string capital(std::string text) {
  if (!text.empty() && text.front() >= 'a' && text.front() <= 'z')
    text.front() = static_cast<char>(text.front() - 'a' + 'A');
  return text;
}

std::string wrapped(std::string_view text, std::size_t indent, std::size_t used, std::size_t width) {
  std::string result;
  bool first = true;
  while (!text.empty()) {
    const auto end = std::min(text.find(' '), text.size());
    const auto word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!first && used + 1 + word.size() > width) {
      result += '\n' + std::string(indent, ' ');
      used = indent;
    } else if (!first) {
      result += ' ';
      ++used;
    }
    result += word;
    used += word.size();
    first = false;
  }
  return result;
}

std::string command_help(const command_text& command, const std::string& program, std::size_t width) {
  const auto before = fmt::format("Usage: {}{}{} ", program, program.empty() ? "" : " ", command.name);
  auto result = before + wrapped(command.usage(), 9, before.size(), width) + "\n\n"
                + wrapped(capital(command.summary) + '.', 0, 0, width) + '\n';
  std::vector<entries> all{entries_of(command.words)};
  for (const auto& group : command.groups)
    all.push_back(entries_of(group.flags));
  const auto column = width < 60 ? 6 : column_of(all);
  if (!command.words.empty())
    append(result += '\n', all.front(), column, width);
  for (std::size_t i = 0; i < command.groups.size(); ++i)
    append(result += '\n' + command.groups[i].title + '\n', all[i + 1], column, width);
  if (!command.footer.empty())
    result += '\n' + wrapped(command.footer, 0, 0, width) + '\n';
  return result;
}

std::string program_help(const CLI::App& app, std::size_t width) {
  const auto self = describe(app);
  std::vector<entries> all;
  const auto groups = commands_of(app);
  for (const auto& group : groups) {
    auto& some = all.emplace_back();
    for (const auto* command : group.commands)
      some.emplace_back(command->get_name(), command->get_description());
  }
  all.push_back(entries_of(self.flags()));
  const auto column = column_of(all);
  auto result = fmt::format("Usage: {} COMMAND [FLAG...]\n\n{}\n", self.name, wrapped(self.summary, 0, 0, width));
  for (std::size_t i = 0; i < groups.size(); ++i)
    append(result += '\n' + groups[i].title + '\n', all[i], column, width);
  append(result += "\nFlags\n", all.back(), column, width);
  return result + fmt::format("\n{} COMMAND --help lists the flags of a command.\n", self.name);
}

void format_help(CLI::App& app) {
  const auto formatter = std::make_shared<help_format>();
  auto commands = app.get_subcommands({});
  commands.push_back(&app);
  for (auto* command : commands) {
    command->formatter(formatter);
    command->set_help_flag("-h,--help", "print this help");
  }
}

std::vector<char*> with_help_flag(const CLI::App& app, std::vector<char*> words) {
  if (words.size() < 2 || words[1] != std::string_view{"help"})
    return words;
  words.erase(words.begin() + 1);
  const auto is_named = [&](const CLI::App* command) { return command->get_name() == words[1]; };
  if (words.size() == 1 || !app.get_subcommands(is_named).empty()) // others have no help, and are refused
    words.insert(words.begin() + std::min<std::ptrdiff_t>(std::ssize(words), 2), const_cast<char*>("--help"));
  return words;
}

std::string short_help(const std::string& program) {
  const entries examples{{"train", "train with four workers here"},
                         {"simulate --network wan", "the same over another network"},
                         {"launch --hosts localhost:4 -- train", "the same with four processes"},
                         {"list", "what there is to choose from"},
                         {"explain ad-psgd", "what one of them does"},
                         {"train --help", "the flags of a command"},
                         {"--help", "all commands"}};
  auto result = fmt::format("Usage: {} COMMAND [FLAG...]\n\n", program);
  for (const auto& [words, meaning] : examples)
    result += fmt::format("  {} {:<35}  {}\n", program, words, meaning);
  return result;
}

std::string help_format::make_help(const CLI::App* app, std::string name, CLI::AppFormatMode) const {
  const auto width = text_width(STDOUT_FILENO);
  if (app->get_parent() == nullptr)
    return program_help(*app, width);
  // `name` is CLI's "gossamer train".
  if (name.ends_with(app->get_name()))
    name.resize(name.size() - app->get_name().size());
  while (name.ends_with(' '))
    name.pop_back();
  return command_help(describe(*app), name, width);
}

} // namespace gossamer::apps
