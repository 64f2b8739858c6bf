#pragma once

#include "gossamer/actors/frames/link.hpp"

namespace gossamer::actors {

/// One life of a worker or master: frames for a former life are not for the present one.
struct life {
  rank who = 0;
  std::uint32_t incarnation = 0; ///< how often it was started before

  friend auto operator<=>(const life&, const life&) = default;
};

/// Where the frames for one life come in. Threads: safe.
using frame_sink = std::function<void(frame)>;

/// How a world carries frames between its workers, wherever they are. Threads: safe.
class transport {
public:
  virtual ~transport() = default;

  /// Frames for this life go into the sink from now on. Those for earlier lives of the same rank are dropped.
  virtual void attach(life who, frame_sink sink) = 0;
  /// The way from a worker to one life of a peer. What is sent to a life that is over, or that nobody attached, is
  /// dropped: a view will say that it is not there.
  virtual std::unique_ptr<link> link_to(rank from, life to) = 0;
};

} // namespace gossamer::actors
