#pragma once

#include "gossamer/actors/frames/frame.hpp"
#include "gossamer/base/work.hpp"

#include <chrono>

namespace gossamer::actors {

/// Measures the handlers of workers in a world where work takes time: the simulated one. Other worlds have no work
/// clock; time passes by itself there.
///
/// A handler runs at one moment and is charged afterwards: its frames leave when the work before them is done, and
/// messages that come meanwhile wait. Threads: one handler at a time.
class work_clock : public work_meter {
public:
  /// Worker `who` begins to handle a message.
  virtual void begin(rank who) = 0;
  /// The worker has received a frame, or is about to send one.
  virtual void handling(const frame& f) = 0;
  /// Time of the work since `begin`; 0 before it and after `end`.
  virtual std::chrono::nanoseconds spent() const = 0;
  /// The handler is over. @returns spent()
  virtual std::chrono::nanoseconds end() = 0;
};

} // namespace gossamer::actors
