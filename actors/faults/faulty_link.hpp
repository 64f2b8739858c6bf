#pragma once

#include "gossamer/actors/faults/board.hpp"
#include "gossamer/actors/frames/link.hpp"

namespace gossamer::actors {

/// Counts what became of frames; shared by all links of a run. Threads: safe.
struct fault_count {
  std::atomic<std::uint64_t> lost{0}, duplicated{0}, rejected{0};
};

/// What the faulty links of a run have in common.
struct faulty_surroundings {
  std::shared_ptr<fault_board> board;
  std::shared_ptr<fault_count> count;
  std::function<double()> now; ///< seconds since the start of the run
  timer later;                 ///< for frames that are held back
  std::uint64_t seed = 0;
  buffer_pool pool;
};

/// Wraps a link so that its frames suffer what the board says. A frame that is damaged on the way is written, changed
/// in one to three bits, and read again as its receiver would: it arrives only if nothing notices. One that is delayed
/// is sent over the inner link when its time has come, also when the worker has no use for the faulty link any more.
std::unique_ptr<link> make_faulty_link(rank from, rank to, std::unique_ptr<link> inner,
                                       std::shared_ptr<const faulty_surroundings> around);

} // namespace gossamer::actors
