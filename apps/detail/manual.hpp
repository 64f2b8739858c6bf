#pragma once

#include "gossamer/apps/detail/flag_text.hpp"
#include "gossamer/apps/detail/program.hpp"

#include <string>
#include <vector>

namespace gossamer::apps {

/// What a shell offers for a flag's value, or for a word.
struct offers {
  std::vector<std::string> words;
  std::vector<std::string> parts; ///< "uniform:bits=": what may follow a word and a colon
  bool files = false, folders = false;

  bool empty() const { return words.empty() && !files && !folders; }
};

/// Returns what may be given for a flag of a command, as far as that is known.
/// @param flag one of `describe(command)`
offers offers_for(const program& p, const std::string& command, const flag_text& flag);

/// `gossamer completion SHELL`. @error errc::usage on an unknown shell
void print_completion(const program& p, const CLI::App& app, const std::string& shell);
std::string bash_completion(const program& p, const CLI::App& app);
std::string zsh_completion(const program& p, const CLI::App& app);

/// `gossamer man DIR`: writes a page for the program and one for each command into a folder, which is made.
/// @error errc::io
void write_manual(const program& p, const CLI::App& app, const std::string& folder);

} // namespace gossamer::apps
