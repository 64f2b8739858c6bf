#pragma once

#include "gossamer/actors/run/checkpoint.hpp"

namespace gossamer::actors {

// Messages that turn parts into a complete checkpoint.

/// leader -> worker: a checkpoint of this number is wanted now
struct save_checkpoint {
  std::uint64_t number = 0;
};

/// node -> leader: this worker's part of a checkpoint is on its disk
struct part_saved {
  rank source = 0;
  std::uint32_t incarnation = 0;
  std::uint64_t checkpoint = 0;
  part_account part;
};

/// node -> leader: a part of this checkpoint cannot be saved; leader -> node: the checkpoint is given up, so that parts
/// of it may go
struct part_not_saved {
  std::uint64_t checkpoint = 0;
  std::string why;
};

/// leader -> node: this checkpoint is complete; each machine keeps its manifest, and one checkpoint before it
struct checkpoint_complete {
  manifest whole;
};

template <class Inspector>
decltype(auto) inspect(Inspector& f, save_checkpoint& m) {
  return f(m.number);
}
template <class Inspector>
decltype(auto) inspect(Inspector& f, part_account& p) {
  return f(p.digest, p.gradients, p.sent);
}
template <class Inspector>
decltype(auto) inspect(Inspector& f, manifest& m) {
  return f(m.checkpoint, m.workers, m.masters, m.steps, m.time_s, m.samples, m.former_gradients, m.former_sent,
           m.parts);
}
template <class Inspector>
decltype(auto) inspect(Inspector& f, part_saved& m) {
  return f(m.source, m.incarnation, m.checkpoint, m.part);
}
template <class Inspector>
decltype(auto) inspect(Inspector& f, part_not_saved& m) {
  return f(m.checkpoint, m.why);
}
template <class Inspector>
decltype(auto) inspect(Inspector& f, checkpoint_complete& m) {
  return f(m.whole);
}

} // namespace gossamer::actors
