#pragma once

#include "gossamer/base/setting.hpp"

#include <CLI/CLI.hpp>

#include <string>

namespace gossamer::apps {

/// Adds a flag whose value is a time, in seconds or with a unit. @param into has the default, and must outlive the
/// command
inline CLI::Option* add_time(CLI::App& command, const std::string& flag, double& into, const std::string& help,
                             interval<double> allowed) {
  const auto set = [&into, flag, allowed](const std::string& given) {
    into = parse_quantity(quantity::time, flag, given, allowed.min, allowed.max);
  };
  return command.add_option_function<std::string>(flag, set, help)->type_name("S")->default_str(number_text(into));
}

} // namespace gossamer::apps
