#pragma once

#include "gossamer/actors/evaluation/checkpoint_folder.hpp"
#include "gossamer/apps/detail/options.hpp"
#include "gossamer/apps/detail/program.hpp"

#include <functional>
#include <string>

namespace gossamer::apps {

/// A run that has been checked and loaded.
struct run_setup {
  run_options options; ///< as given, but with known sample time and horizon
  std::shared_ptr<const actors::experiment> experiment;
  actors::fault_plan plan;
  std::shared_ptr<const actors::resumption> from = {}; ///< the checkpoint to resume from; null: none

  /// Returns the options with every default written out, as a run folder keeps them.
  run_options resolved() const;
};

/// @error errc::usage, errc::io, errc::bad_data for any fault of the request, before any file is written
run_setup set_up_local(const program& p, run_options o);
run_setup set_up_simulation(const program& p, run_options o);

/// Make the checks of these that need no data, so that of many runs each is checked before the first begins.
/// @error likewise
void check_local(const program& p, const run_options& o);
void check_simulation(const program& p, run_options o);

/// Says which learning rate was chosen, unless the user or a resumed run did.
void tell_default_lr(const run_setup& run, const std::function<void(const std::string&)>& say);

/// Returns the configuration of the run in a folder, whether it was trained or simulated.
run_options options_of(const std::string& run);
/// Returns the newest whole checkpoint of the run that shall be resumed; null if none shall.
/// @error errc::usage when this is another run, or would be overwritten; errc::bad_data when there is no such
///        checkpoint
std::shared_ptr<const actors::resumption> resumption_of(const program& p, const run_options& o,
                                                        const actors::experiment& e);

/// Returns the folder of the checkpoints of a run.
actors::checkpoint_folder checkpoints_in(const std::filesystem::path& run);
/// Returns the checkpoint from which a run goes on.
/// @param parts_elsewhere as in `run_options`; if false, a checkpoint that lacks a part cannot be used
/// @param complain, @error as `checkpoint_folder::newest`
actors::resumption newest_checkpoint(const std::filesystem::path& run, bool parts_elsewhere,
                                     const std::function<void(const std::string&)>& complain);

/// Refuses a plan that does not fit a run.
/// @error errc::usage as `actors::check`, and where masters come or leave
void check_plan(const actors::fault_plan& plan, const actors::experiment& e, std::size_t workers_per_node);

/// Returns the plan that the options ask for: read, drawn, or empty. Requires a horizon if it is drawn.
/// @error errc::usage, errc::io
actors::fault_plan plan_of(const run_options& o, const actors::experiment& e);

} // namespace gossamer::apps
