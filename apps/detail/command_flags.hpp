#pragma once

#include "gossamer/apps/detail/advise.hpp"
#include "gossamer/apps/detail/commands.hpp"
#include "gossamer/apps/detail/report.hpp"
#include "gossamer/apps/detail/reproduce.hpp"
#include "gossamer/apps/detail/sweep.hpp"

#include <CLI/CLI.hpp>

namespace gossamer::apps {

// The flags of the commands of one process. The variables that they set must outlive the command.

void add_exploration_flags(CLI::App& simulate, exploration& x);
void add_certs_flags(CLI::App& command, certs_options& o);
void add_reproduce_flags(CLI::App& command, reproduce_options& o);
void add_sweep_flags(CLI::App& command, sweep_options& o);
void add_advise_flags(CLI::App& command, advise_options& o);
void add_export_flags(CLI::App& command, export_options& o);
void add_plot_flags(CLI::App& command, plot_options& o);
void add_report_flags(CLI::App& command, report_options& o);
/// @param program its name
void add_help_flags(CLI::App& completion, std::string& shell, CLI::App& man, std::string& folder,
                    const std::string& program);

/// Has all commands refuse empty values, such as that of --resume "$RUN" without RUN, which would count as none.
void require_values(CLI::App& app);

/// @error errc::usage on a flag that would do nothing
void check_exploration(const CLI::App& simulate, const exploration& x, const run_options& options);

} // namespace gossamer::apps
