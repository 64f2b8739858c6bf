#pragma once

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <string>
#include <vector>

namespace gossamer::apps {

// What a command's flags say about themselves: help texts, manual pages and completions are three forms of it.

/// A flag of a command, or a word that stands without one.
struct flag_text {
  std::vector<std::string> names; ///< "-h", "--help"; empty: a word without a flag
  std::string word;               ///< name of a word without a flag, in lower case
  std::string value;              ///< what its value is called, such as FILE; empty: it has none
  std::string meaning;
  std::string standard;                     ///< value that counts when none is given; empty: none
  std::string range;                        ///< "1 to 1024"; empty: not a number, or one that is checked elsewhere
  std::vector<std::string> needs, excludes; ///< other flags
  bool required = false, repeatable = false;

  /// Returns the flag as it is written: "-h, --help", "--out DIR" or "RUN...".
  std::string usage() const;
  /// Returns the meaning, with what else there is to know in brackets.
  std::string sentence() const;
};

struct flag_group {
  std::string title;
  std::vector<flag_text> flags;
};

/// A command, or the program itself.
struct command_text {
  std::string name, summary, footer;
  std::vector<flag_text> words; ///< those without a flag, in their order
  std::vector<flag_group> groups;
  std::vector<flag_text> flags() const; ///< of all groups

  /// Returns what follows the command's name: "[FLAG...] RUN".
  std::string usage() const;
};

/// Describes a command; hidden flags are left out.
command_text describe(const CLI::App& command);

/// The commands of a program under their headings, without hidden ones.
struct command_group {
  std::string title;
  std::vector<const CLI::App*> commands;
};
std::vector<command_group> commands_of(const CLI::App& app);

/// A heading, and the flags below it, without "--". A command may lack some of them.
struct flag_heading {
  std::string title;
  std::vector<std::string> flags;
};
/// Returns the headings of a command in the order in which they are shown; none for a command with few flags.
const std::vector<flag_heading>& headings_of(const std::string& command);

/// Begins the limits in a flag's type, where only `describe` sees them.
inline constexpr std::string_view range_mark = "range ";

/// Returns the check of a number that shows its limits in the help.
template <class T>
CLI::Validator within(T min, T max) {
  const auto check = [min, max](const std::string& given) {
    T value{};
    const bool inside = CLI::detail::lexical_cast(given, value) && min <= value && value <= max; // NaN is not
    return inside ? std::string{} : fmt::format("Value {} not in range {} to {}", given, min, max);
  };
  return CLI::Validator{check, fmt::format("{}{} to {}", range_mark, min, max)};
}

} // namespace gossamer::apps
