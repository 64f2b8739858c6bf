#pragma once

#include "gossamer/actors/evaluation/checkpoint_folder.hpp"

#include <caf/all.hpp>

namespace gossamer::actors {

struct checkpoint_writer_setup {
  std::optional<checkpoint_folder> folder; ///< absent: nothing is kept, and the run goes on as if it were
  std::size_t workers = 0;
  caf::actor owner;        ///< the node
  bool own_thread = false; ///< no other actor waits for the disk then
};

/// Spawns an actor that writes to the disk. Takes a `saved_worker`, answered to the owner by `part_saved` or
/// `part_not_saved`; a `manifest`, answered by `manifest_saved` or `part_not_saved`; `checkpoint_complete`, by which
/// older ones go; and `part_not_saved` of any node, by which the parts of that one go, as they do before an answer of
/// `part_not_saved`. No failure of a disk is the end of a run.
caf::actor spawn_checkpoint_writer(caf::actor_system& system, checkpoint_writer_setup setup);

} // namespace gossamer::actors
