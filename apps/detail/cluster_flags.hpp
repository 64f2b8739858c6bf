#pragma once

#include "gossamer/apps/detail/commands.hpp"
#include "gossamer/apps/detail/launch.hpp"
#include "gossamer/apps/detail/measure.hpp"
#include "gossamer/apps/detail/visit.hpp"
#include "gossamer/apps/detail/watch.hpp"

#include <CLI/CLI.hpp>

namespace gossamer::apps {

// The flags of the commands about runs of several processes. The variables that they set must outlive the command.

void add_node_flags(CLI::App& command, node_options& n);
/// The flags of commands whose run may be watched on a page.
void add_live_flags(CLI::App& command, live_options& l);
void add_watch_flags(CLI::App& command, watch_options& o);
/// The flag of commands that write a page about their run.
void add_report_flag(CLI::App& command, bool& wanted);
/// @param real_time false for simulations, whose traces are settings
void add_feed_flags(CLI::App& command, feed_options& f, bool real_time);
void add_launch_flags(CLI::App& command, launch_options& l);
void add_measure_flags(CLI::App& command, measure_options& m);
/// @param elsewhere true if the run may also be one on another machine
void add_visit_flags(CLI::App& command, visit_options& v, bool elsewhere);
/// The flags that single ones of these commands have beside.
void add_own_visit_flags(CLI::App& leave, CLI::App& logs, CLI::App& attach, visit_options& v);

} // namespace gossamer::apps
