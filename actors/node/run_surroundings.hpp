#pragma once

#include "gossamer/actors/evaluation/checkpoint_folder.hpp"
#include "gossamer/actors/faults/wishes.hpp"
#include "gossamer/actors/frames/link.hpp"
#include "gossamer/actors/telemetry/record.hpp"
#include "gossamer/base/error.hpp"

#include <functional>

namespace gossamer::actors {

class run_trace;

/// This node has led a run, and has left it, as it was asked to: the run goes on, and has no end here.
class node_has_gone : public error {
public:
  using error::error;
};

/// The surroundings of a run, which are no part of it, in every world.
struct run_surroundings {
  run_observer* observer = nullptr;
  std::function<bool()> interrupted = {};         ///< asked several times a second; true stops the run cleanly
  fault_plan faults = {};                         ///< injected; if it does no harm, links are trusted
  std::shared_ptr<fault_wishes> wishes = nullptr; ///< more of them, for a live plan; null: none will come
  std::shared_ptr<run_trace> trace = nullptr;     ///< draws a run in real time; null: none is drawn
  std::size_t workers_per_node = 1;               ///< for faults of nodes
  link_wrapper wrap_link = {};                    ///< for tests that do their own harm; may be empty
  /// The folder of checkpoints, if `run_settings::checkpoint` wants any; absent: none, though they are taken.
  std::optional<checkpoint_folder> checkpoints = {};
  std::shared_ptr<const resumption> from = nullptr; ///< the checkpoint to go on from; null: the run begins
};

} // namespace gossamer::actors
