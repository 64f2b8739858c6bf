#pragma once

#include "gossamer/actors/frames/frame.hpp"

#include <chrono>
#include <functional>
#include <memory>

namespace gossamer::actors {

/// One direction from a worker to a peer. Workers never hold sockets or actor handles: in-process, network and
/// simulated links, and the wrappers that inject faults, share this interface. Frames between one pair arrive in the
/// order they were sent, unless a wrapper decides otherwise.
///
/// Threads: one at a time; a wrapper that holds frames back may send them later from the thread of its timer.
class link {
public:
  virtual ~link() = default;
  virtual void send(frame f) = 0;
};

/// The step in the sender's random stream at which the numbers of a frame are drawn.
/// @param number of the frame on its link, below 2^40
constexpr std::uint64_t frame_step(rank to, std::uint64_t number) noexcept { return std::uint64_t{to} << 40 | number; }

/// Runs a function after a delay, in the world's time. Threads: safe; the function runs on a thread that the world
/// chooses.
using timer = std::function<void(std::chrono::nanoseconds delay, std::function<void()> what)>;

/// The seam for fault injection: takes the link from one rank to another and returns the link that the worker uses
/// instead.
using link_wrapper = std::function<std::unique_ptr<link>(rank from, rank to, std::unique_ptr<link>)>;

} // namespace gossamer::actors
