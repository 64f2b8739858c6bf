#pragma once

#include "gossamer/apps/detail/options.hpp"
#include "gossamer/base/error.hpp"
#include "gossamer/base/settings_text.hpp"

#include <CLI/CLI.hpp>
#include <fmt/ranges.h>

#include <filesystem>
#include <map>

namespace gossamer::apps {

/// The flags of one command that come from a table.
class table_flags {
public:
  table_flags(CLI::App& command, const std::vector<option>& table) : table_(table) {
    const run_options defaults;
    for (const auto& o : table_) {
      auto* flag = command.add_option("--" + o.name, given_[o.name], o.help)->type_name(o.value);
      flag->expected(1)->allow_extra_args(false)->default_str(o.get(defaults));
      o.repeatable() ? flag->take_all() : flag->take_last();
    }
    command.add_option("--config", config_, "read settings from a TOML file; flags win")->type_name("FILE");
    command
        .add_option("--resume", resume_,
                    "go on with the run in this folder from its last checkpoint, with its settings; flags win")
        ->type_name("RUN");
    command.add_flag("--overwrite", overwrite_, "replace the run that --out already holds");
  }
  table_flags(const table_flags&) = delete;
  table_flags& operator=(const table_flags&) = delete;

  run_options options() const {
    check_exclusions(keys_of(table_), [this](const std::string& name) { return given(name); }, {});
    run_options result;
    result.overwrite = overwrite_;
    if (!config_.empty() && !resume_.empty())
      throw error(errc::usage, "both --config and --resume are given", "a run goes on with its own configuration");
    result.resume = resume_;
    if (!resume_.empty())
      read_config_of(resume_, table_, result, of_simulations::passed_over); // a simulated run may go on as a real one
    if (!config_.empty())
      read_config(config_, table_, result);
    for (const auto& o : table_)
      if (given(o.name))
        o.set(result, fmt::format("{}", fmt::join(given_.at(o.name), o.joined_by)));
    result.spares_processes = given("processes") && !result.world.processes;
    if (result.horizon_s && !result.chaos)
      throw error(errc::usage, "--horizon is given, but no --chaos, whose plan it is for",
                  "add --chaos, or leave --horizon out");
    return result;
  }

private:
  bool given(const std::string& name) const {
    const auto found = given_.find(name);
    return found != given_.end() && !found->second.empty();
  }

  const std::vector<option>& table_;
  std::map<std::string, std::vector<std::string>> given_;
  std::string config_, resume_;
  bool overwrite_ = false;
};

} // namespace gossamer::apps
