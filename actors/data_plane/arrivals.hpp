#pragma once

#include "gossamer/actors/data_plane/limits.hpp"
#include "gossamer/actors/frames/sink_table.hpp"

#include <deque>
#include <map>
#include <set>

namespace gossamer::actors {

/// Where frames of other nodes come in. Those for a life that nobody has attached yet wait for it, in order and not
/// without bound: a peer may be a little ahead. Those for a life that is over, or that is not here, are dropped.
/// Threads: one, while others may attach sinks to the table.
class arrivals {
public:
  /// @param sinks outlive this
  arrivals(const sink_table& sinks, const limits& most) : sinks_(sinks), most_(most) {}

  /// Which ranks live here.
  void host(std::set<rank> ranks) { here_ = std::move(ranks); }

  /// @error errc::bad_packet when too much of this node is waiting
  void deliver(std::uint32_t from_node, life to, frame f);
  /// Whether the last frame was a short one: what follows it comes soon.
  bool last_was_short() const noexcept { return last_was_short_; }
  /// What waited for this rank is handed on, or dropped if its life is over. Call it after a sink was attached;
  /// `deliver` sees to it that nothing overtakes.
  void attached(rank who);

private:
  struct waiting_frame {
    std::uint32_t from_node;
    std::uint64_t bytes;
    frame f;
  };
  struct waiting_total {
    std::uint64_t frames = 0, bytes = 0;
  };

  void keep(std::uint32_t from_node, life to, frame f);

  const sink_table& sinks_;
  limits most_;
  std::set<rank> here_;
  std::map<life, std::deque<waiting_frame>> waiting_;
  std::map<std::uint32_t, waiting_total> totals_;
  bool last_was_short_ = false;
};

} // namespace gossamer::actors
