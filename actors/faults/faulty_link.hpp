#pragma once

#include "gossamer/actors/faults/board.hpp"
#include "gossamer/actors/frames/link.hpp"

namespace gossamer::actors {

/// Counts of frames by their fate; shared by all links of a run. Threads: safe.
struct fault_count {
  std::atomic<std::uint64_t> lost{0}, duplicated{0}, rejected{0};
};

/// Data that all faulty links of a run share.
struct faulty_surroundings {
  std::shared_ptr<fault_board> board;
  std::shared_ptr<fault_count> count;
  std::function<double()> now; ///< seconds since the start of the run
  timer later;                 ///< for frames that are held back
  std::uint64_t seed = 0;
  buffer_pool pool;
};

/// Wraps a link so that its frames suffer the verdicts of the board. A frame that is damaged on the way is written,
/// changed in one to three bits, and read again as its receiver would: it arrives only if the damage goes unnoticed. A
/// delayed frame is sent over the inner link when its time has come, even after the faulty link is destroyed.
std::unique_ptr<link> make_faulty_link(rank from, rank to, std::unique_ptr<link> inner,
                                       std::shared_ptr<const faulty_surroundings> around);

} // namespace gossamer::actors
