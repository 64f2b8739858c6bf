#pragma once

#include "gossamer/actors/worker/worker.hpp"

#include <vector>

namespace gossamer::actors {

/// Members of a view, this worker among them, which do a round together: all of them name the same ones.
struct member_group {
  std::vector<rank> members; ///< ascending
  std::uint32_t view;        ///< its number
};

/// All members of the present view.
inline member_group members_of(const worker& w) {
  return {{w.members().begin(), w.members().end()}, w.present().number};
}

} // namespace gossamer::actors
