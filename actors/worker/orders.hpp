#pragma once

#include "gossamer/actors/frames/frame.hpp"

namespace gossamer::actors {

// What a node and its workers tell each other; it never leaves the process.

/// node -> worker, see worker::hold; answered by holding
struct hold_steps {
  std::uint32_t round = 0;
  bool left_out = false; ///< until further notice: the state is kept for a later life
};

struct holding {
  rank source = 0;
  std::uint32_t incarnation = 0;
  std::uint32_t round = 0;
  std::uint64_t step = 0, next_exchange = 0;
};

/// worker or master -> node -> leader, see worker::gradient_applied
struct gradient_applied {
  std::uint64_t staleness = 0;
};

/// to the node's workers: this one shall live, in its next life; or shall not
struct start_worker {
  rank who = 0;
  std::uint32_t incarnation = 0;
};

struct stop_worker {
  rank who = 0;
};

} // namespace gossamer::actors
