#pragma once

#include "gossamer/base/error.hpp"

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace gossamer::apps {

/// Returns the error about the first word that no flag took: "unknown flag '--algoritm'; did you mean --algorithm?".
/// @param given all words
/// @param help  the remedy if no better one is known
/// @error errc::usage instead, where the command itself says what is wrong with the word
error unexpected(const CLI::App& app, const std::vector<std::string>& given, const std::string& help);

} // namespace gossamer::apps
