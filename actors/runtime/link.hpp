#pragma once

#include "gossamer/actors/runtime/frame.hpp"

#include <chrono>
#include <functional>
#include <memory>

namespace gossamer::actors {

/// One direction from a worker to a peer. Workers never hold sockets or actor handles: in-process, network and
/// simulated links, and the wrappers that inject faults, all look like this. Frames between one pair arrive in the
/// order they were sent, unless a wrapper decides otherwise.
///
/// Every bit is counted here, where it is sent. Threads: confined to the sending actor.
class link {
public:
  virtual ~link() = default;

  void send(frame f) {
    sent_[static_cast<std::size_t>(f.label.kind)].count(f);
    transmit(std::move(f), {});
  }

  /// For wrappers: passes a frame on that has been counted already, so much later than usual.
  virtual void transmit(frame f, std::chrono::nanoseconds delay) = 0;

  const traffic& sent(frame_kind kind) const { return sent_[static_cast<std::size_t>(kind)]; }
  traffic sent() const {
    traffic total;
    for (const auto& one : sent_)
      total += one;
    return total;
  }

private:
  std::array<traffic, frame_kinds> sent_{};
};

/// The seam for fault injection: takes the link from one rank to another and returns what the worker will use instead.
using link_wrapper = std::function<std::unique_ptr<link>(rank from, rank to, std::unique_ptr<link>)>;

} // namespace gossamer::actors
