#pragma once

#include "gossamer/apps/detail/flag_text.hpp"

#include <string>
#include <vector>

namespace gossamer::apps {

/// Makes the help texts of a program and of its commands, which replace CLI's own.
class help_format final : public CLI::FormatterBase {
public:
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override;
};

/// Gives a program and its commands these texts.
void format_help(CLI::App& app);

/// Returns the help of a command in lines of at most `width` characters, as far as words are not longer.
/// @param program what stands before the command's name
std::string command_help(const command_text& command, const std::string& program, std::size_t width);

/// Returns the help of a program: its commands.
std::string program_help(const CLI::App& app, std::size_t width);

/// Returns the words of a command line, with `help train` as `train --help`.
std::vector<char*> with_help_flag(const CLI::App& app, std::vector<char*> words);

/// Returns what a program says when it is called with nothing.
std::string short_help(const std::string& program);

/// Returns a text whose first letter is a capital.
std::string capital(std::string text);

/// Returns a text broken into lines between words. All but the first begin with `indent` spaces.
/// @param used columns that are in use already before the text
std::string wrapped(std::string_view text, std::size_t indent, std::size_t used, std::size_t width);

} // namespace gossamer::apps
