#pragma once

#include "gossamer/actors/frames/frame.hpp"

namespace gossamer::actors {

// Messages between a node and its workers; they never leave the process.

/// node -> worker: see hosted_worker::hold; answered by worker_holds
struct hold_steps {
  std::uint32_t round = 0;
  bool left_out = false; ///< until further notice; the state is kept for a later incarnation
};

struct worker_holds {
  rank source = 0;
  std::uint32_t incarnation = 0;
  std::uint32_t round = 0;
  std::uint64_t step = 0, next_exchange = 0;
};

/// worker or master -> node -> leader: see worker::gradient_applied
struct gradient_applied {
  std::uint64_t staleness = 0;
};

/// node -> its worker: start as this incarnation; `stop_worker`: stop
struct start_worker {
  rank who = 0;
  std::uint32_t incarnation = 0;
};

struct stop_worker {
  rank who = 0;
};

} // namespace gossamer::actors
