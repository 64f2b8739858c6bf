#pragma once

#include "gossamer/actors/frames/frame.hpp"
#include "gossamer/base/work.hpp"

#include <chrono>

namespace gossamer::actors {

/// How long the handlers of workers take, in a world where work takes time: the simulated one. Elsewhere there is none,
/// and time passes by itself.
///
/// A handler runs at one moment and is charged afterwards: what it sends leaves when the work before it is done, and
/// messages that come meanwhile wait. Threads: one handler at a time.
class work_clock : public work_meter {
public:
  /// Worker `who` begins to handle a message.
  virtual void begin(rank who) = 0;
  /// It has received a frame, or is about to send one.
  virtual void handling(const frame& f) = 0;
  /// What has been done since `begin` takes so long; nothing before it and after `end`.
  virtual std::chrono::nanoseconds spent() const = 0;
  /// The handler is over. @returns spent()
  virtual std::chrono::nanoseconds end() = 0;
};

} // namespace gossamer::actors
