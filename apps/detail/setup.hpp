#pragma once

#include "gossamer/actors/evaluation/checkpoint_folder.hpp"
#include "gossamer/apps/detail/options.hpp"
#include "gossamer/apps/detail/program.hpp"

namespace gossamer::apps {

/// A run that has been checked and loaded.
struct run_setup {
  run_options options; ///< as given, but with the sample time and the horizon known
  std::shared_ptr<const actors::experiment> experiment;
  actors::fault_plan plan;
  std::shared_ptr<const actors::resumption> from = {}; ///< the checkpoint to go on from; null: none

  /// With every default written out: what a run folder keeps.
  run_options resolved() const;
};

/// @error errc::usage, errc::io, errc::bad_data whatever is wrong with the request: nothing has been written yet
run_setup set_up_local(const program& p, run_options o);
run_setup set_up_simulation(const program& p, run_options o);

/// The configuration of the run in a folder, whether it was trained or simulated.
run_options options_of(const std::string& run);
/// The newest checkpoint that is whole of the run that shall be gone on with; null where there is none to be.
/// @error errc::usage when this is another run, or would be overwritten; errc::bad_data when there is no such
/// checkpoint
std::shared_ptr<const actors::resumption> resumption_of(const program& p, const run_options& o,
                                                        const actors::experiment& e);

/// Where the checkpoints of the run in this folder are.
actors::checkpoint_folder checkpoints_in(const std::filesystem::path& run);

/// The plan that the options ask for: read, drawn, or empty. Requires a horizon where one is drawn.
/// @error errc::usage, errc::io
actors::fault_plan plan_of(const run_options& o, const actors::experiment& e);

} // namespace gossamer::apps
