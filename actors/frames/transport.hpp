#pragma once

#include "gossamer/actors/frames/link.hpp"

namespace gossamer::actors {

/// One incarnation of a worker or master. Frames for an earlier one never reach a later one.
struct life {
  rank who = 0;
  std::uint32_t incarnation = 0; ///< 0 for the first of its rank; later ones are larger

  friend auto operator<=>(const life&, const life&) = default;
};

/// Receiver of the frames for one incarnation. Threads: safe.
using frame_sink = std::function<void(frame)>;

/// Carries frames between a world's workers, wherever they are. Threads: safe.
class transport {
public:
  virtual ~transport() = default;

  /// Directs frames for this incarnation to the sink from now on. Frames for earlier ones of the same rank are dropped.
  virtual void attach(life who, frame_sink sink) = 0;
  /// The link from a worker to one incarnation of a peer. Frames to an incarnation that is over, or was never attached,
  /// are dropped: a view will say that the peer is not there.
  virtual std::unique_ptr<link> link_to(rank from, life to) = 0;
};

} // namespace gossamer::actors
