#pragma once

#include "gossamer/actors/data_plane/limits.hpp"
#include "gossamer/actors/frames/sink_table.hpp"

#include <deque>
#include <map>
#include <set>

namespace gossamer::actors {

/// Delivers frames of other nodes. Frames for an incarnation that is not attached yet wait for it in order, within
/// limits: a peer may be a little ahead. Frames for an incarnation that is over, or elsewhere, are dropped.
/// Threads: one, while others may attach sinks to the table.
class arrivals {
public:
  /// @param sinks outlive this object
  arrivals(const sink_table& sinks, const limits& most) : sinks_(sinks), most_(most) {}

  /// Sets the ranks of this node.
  void host(std::set<rank> ranks) { here_ = std::move(ranks); }

  /// @error errc::bad_packet if too many frames of this node are waiting
  void deliver(std::uint32_t from_node, life to, frame f);
  /// True if the last frame was shorter than a slice: another one probably follows soon.
  bool last_was_short() const noexcept { return last_was_short_; }
  /// Hands on the frames that waited for this rank; drops them if their incarnation is over. Call it after a sink was
  /// attached; until then later frames wait behind them, so that none overtakes.
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
