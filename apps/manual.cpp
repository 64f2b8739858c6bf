// gossamer man: manual pages, from what the flags say about themselves.
#include "gossamer/apps/detail/manual.hpp"

#include "gossamer/apps/detail/commands.hpp"
#include "gossamer/apps/detail/help_text.hpp"
#include "gossamer/base/error.hpp"
#include "gossamer/base/file.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

namespace gossamer::apps {

namespace {

/// Returns a text whose signs troff would otherwise read, or draw as other signs.
std::string roff(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '\\')
      result += "\\e";
    else if (c == '-')
      result += "\\-";
    else if ((c == '.' || c == '\'') && result.empty())
      result += std::string{"\\&"} + c;
    else if (c == '~')
      result += "\\(ti";
    else if (c == '^')
      result += "\\(ha";
    else
      result += c;
  }
  return result;
}

std::string head(const std::string& page, const std::string& program) {
  std::string title = page;
  std::ranges::transform(title, title.begin(), [](unsigned char c) { return std::toupper(c); });
  return fmt::format(".TH {} 1 \"\" \"{} {}\" \"Gossamer\"\n.SH NAME\n", roff(title), program, GOSSAMER_VERSION);
}

std::string entry(const flag_text& flag) {
  std::string bold;
  for (const auto& name : flag.names)
    bold += fmt::format("{}\\fB{}\\fR", bold.empty() ? "" : ", ", roff(name));
  if (!flag.value.empty())
    bold += fmt::format("{}\\fI{}\\fR{}", bold.empty() ? "" : " ", roff(flag.value),
                        flag.names.empty() && flag.repeatable ? "..." : "");
  return fmt::format(".TP\n{}\n{}\n", bold, roff(capital(flag.sentence()) + '.'));
}

/// Returns what the words of a command may be, where that is a short list.
std::string choices(const program& p, const std::string& command, const flag_text& flag) {
  const auto some = offers_for(p, command, flag);
  return some.words.size() < 2 ? "" : roff(fmt::format("One of {}.", fmt::join(some.words, ", "))) + '\n';
}

std::string command_page(const program& p, const CLI::App& app, const CLI::App& command) {
  const auto text = describe(command);
  const auto name = fmt::format("{}-{}", p.name(), text.name);
  auto page =
      head(name, p.name())
      + fmt::format("{} \\- {}\n.SH SYNOPSIS\n\\fB{} {}\\fR {}\n.SH DESCRIPTION\n{}\n", roff(name), roff(text.summary),
                    roff(p.name()), roff(text.name), roff(text.usage()), roff(capital(text.summary) + '.'));
  if (!text.footer.empty())
    page += ".PP\n" + roff(text.footer) + '\n';
  for (const auto& word : text.words)
    page += entry(word) + choices(p, text.name, word);
  page += ".SH OPTIONS\n";
  for (const auto& group : text.groups) {
    if (text.groups.size() > 1)
      page += fmt::format(".SS {}\n", roff(group.title));
    for (const auto& flag : group.flags)
      page += entry(flag) + choices(p, text.name, flag);
  }
  page += ".SH EXIT STATUS\n0 on success, 2 when the request itself is wrong, 1 on other failures, and 128 plus the "
          "number of the signal when it was interrupted.\n.SH SEE ALSO\n";
  return page + fmt::format(".BR {} (1)\n", roff(app.get_name()));
}

constexpr auto environment_section = R"(.SH ENVIRONMENT
.TP
.B COLUMNS
Width of help texts and of the line of progress, instead of that of the terminal.
.TP
.B NO_COLOR
When it is not empty, nothing is coloured.
.TP
.B GOSSAMER_TOKEN
The token that nodes of a run on several machines show each other.
.TP
.B SPDLOG_LEVEL
What is logged on standard error, such as debug.
.TP
.BR XDG_CACHE_HOME ", " XDG_STATE_HOME
Where fetched data and the tokens of launched runs are kept.
)";

std::string program_page(const program& p, const CLI::App& app) {
  auto page = head(p.name(), p.name());
  page += fmt::format("{} \\- actors for distributed SGD\n.SH SYNOPSIS\n\\fB{}\\fR \\fICOMMAND\\fR [FLAG...]\n"
                      ".SH DESCRIPTION\n{}.\n.SH COMMANDS\n",
                      roff(p.name()), roff(p.name()), roff(app.get_description()));
  std::vector<std::string> others;
  for (const auto& group : commands_of(app)) {
    page += fmt::format(".SS {}\n", roff(group.title));
    for (const auto* command : group.commands) {
      const auto name = fmt::format("{}\\-{}", roff(p.name()), roff(command->get_name()));
      page += fmt::format(".TP\n.BR {} (1)\n{}\n", name, roff(capital(command->get_description()) + '.'));
      others.push_back(name);
    }
  }
  page += ".SH OPTIONS\n";
  for (const auto& flag : describe(app).flags())
    page += entry(flag);
  page += environment_section;
  page += ".SH SEE ALSO\n";
  for (const auto& name : others)
    page += fmt::format(".BR {} (1){}\n", name, name == others.back() ? "" : ",");
  return page;
}

} // namespace

void write_manual(const program& p, const CLI::App& app, const std::string& folder) {
  constexpr auto remedy = "choose another folder";
  make_folder(folder, remedy);
  const auto write = [&](const std::string& name, const std::string& text) {
    write_text((std::filesystem::path{folder} / (name + ".1")).string(), text, remedy);
  };
  write(p.name(), program_page(p, app));
  for (const auto& group : commands_of(app))
    for (const auto* command : group.commands)
      write(fmt::format("{}-{}", p.name(), command->get_name()), command_page(p, app, *command));
}

} // namespace gossamer::apps
