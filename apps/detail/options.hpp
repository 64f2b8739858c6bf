#pragma once

#include "gossamer/actors/runtime/experiment.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace gossamer::apps {

/// Everything that `gossamer train` can be told.
struct train_options {
  actors::run_settings run;
  std::string out; ///< run folder; empty: the next free one under runs/
  bool overwrite = false;
};

/// One thing that a user can set: a flag `--name VALUE` and a key `name` in a configuration file, with one meaning.
struct option {
  std::string name;
  std::string value; ///< what the value is called in the help
  std::string help;
  std::function<std::string(const train_options&)> get;        ///< as a user would write it; empty when not set
  std::function<void(train_options&, const std::string&)> set; ///< @error errc::usage
  bool repeatable = false;                                     ///< in a file: an array
  bool number = false;                                         ///< in a file: without quotes
};

/// The one table behind the flags, the configuration files and the configuration that a run writes back.
const std::vector<option>& options();

/// Sets everything that a TOML file says.
/// @error errc::io when it cannot be read; errc::usage with file:line on a syntax error, an unknown key or a bad value
void read_config(const std::string& file, train_options& into);

/// The same settings as a TOML text that `read_config` reads back.
std::string write_config(const train_options& from);

} // namespace gossamer::apps
