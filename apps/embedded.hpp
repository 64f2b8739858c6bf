#pragma once

#include "gossamer/apps/command.hpp"

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace gossamer::apps {

/// What a program that holds the command adds to it.
struct embedding {
  own_entries own = {};
  /// Called with the folder of the run when it is open, in the calling thread or in one of the run's.
  std::function<void(const std::filesystem::path&)> on_folder = {};
  /// False: the models of its runs mean nothing. They are neither shown, nor kept where too few nodes are left.
  bool has_results = true;
};

/// The command `gossamer`, inside a program that goes on afterwards: a notebook, a service, a test. Differs from
/// `run_command` in what belongs to the process: errors are thrown, not printed; no signal is handled
/// (`stop_embedded` asks instead); standard error stays as it is. Results and progress are printed as ever.
///
/// Threads: one command at a time, in any thread.
/// @param words without the program's name, e.g. {"train", "--algorithm", "d-psgd"}
/// @returns the exit status; 130 after `stop_embedded`
/// @error as the command prints them; errc::usage while another command runs, and for commands that would fork this
///        process
int run_embedded(const std::vector<std::string>& words, const embedding& with = {});

/// Asks the command that runs to stop, as a first Ctrl-C does: after its present step, evaluated and written down.
/// Threads: safe, from any.
void stop_embedded() noexcept;

} // namespace gossamer::apps
