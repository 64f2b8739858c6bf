#pragma once

#include "gossamer/actors/worker/algorithm.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>

namespace gossamer::actors {

/// The questions of a learner of Decoupled DiLoCo, whose syncer answers a push with theta_p.
enum class sync_request : std::uint32_t {
  pull_all,      ///< the whole theta
  push_fragment, ///< a fragment's turn has come
  push_rest,     ///< what has been learnt since the fragment's turn: training is over, or the learner leaves the run
  leave,         ///< all of that has been pushed
};

inline constexpr std::uint64_t most_fragments = 1024;

/// A learner's question, as the 32 bits in the label of its frame.
struct sync_question {
  sync_request what;
  std::uint64_t fragment = 0;
  std::uint64_t steps = 0; ///< since the fragment last left; counted up to 2^20 - 1

  std::uint32_t as_part() const {
    const auto counted = std::min<std::uint64_t>(steps, (1u << 20) - 1);
    return static_cast<std::uint32_t>(counted << 12 | fragment << 2 | static_cast<std::uint32_t>(what));
  }
  static sync_question from_part(std::uint32_t part) {
    return {static_cast<sync_request>(part & 3), part >> 2 & (most_fragments - 1), part >> 12};
  }
};

/// The master of Decoupled DiLoCo (decoupled_diloco.cpp).
std::unique_ptr<algorithm> make_syncer(const algorithm_setup& s);

} // namespace gossamer::actors
