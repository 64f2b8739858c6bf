#pragma once

#include "gossamer/base/error.hpp"

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace gossamer::apps {

/// What is wrong with the first of the words that were left over: "unknown flag '--algoritm'; did you mean
/// --algorithm?".
/// @param given all words
/// @param help  the remedy where no better one is known
error unexpected(const CLI::App& app, const std::vector<std::string>& given, const std::string& help);

} // namespace gossamer::apps
