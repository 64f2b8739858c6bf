#pragma once

#include "gossamer/actors/worker/view.hpp"

namespace gossamer::actors {

/// The part of a view that has to be sent: the rest follows from the run's graph, see `view_maker`.
struct view_change {
  std::uint32_t number = 1;
  std::uint64_t first_step = 0;
  std::map<rank, std::uint32_t> lives; ///< rank of a member or present master -> its incarnation
  std::map<rank, rank> donors;
  std::int64_t updates_ahead = 0; ///< as in `view`

  static constexpr auto most_updates_ahead = std::int64_t{1} << 62; ///< largest magnitude

  friend bool operator==(const view_change&, const view_change&) = default;
};

template <class Inspector>
decltype(auto) inspect(Inspector& f, view_change& v) {
  return f(v.number, v.first_step, v.lives, v.donors, v.updates_ahead);
}

} // namespace gossamer::actors
