#pragma once

#include "gossamer/actors/frames/frame.hpp"

#include <caf/all.hpp>

namespace gossamer::actors {

/// A thread that brings frames to workers. A worker that had been waiting for a frame no longer than a slice
/// (`slice_bytes`) runs right there: to wake a thread of the scheduler takes longer than adding a slice, which is still
/// in the cache. Longer frames, and everything else, go to the scheduler, so that the next bytes are read meanwhile.
///
/// Threads: it belongs to the one that made it, and ends there.
class delivery_thread final : public caf::execution_unit {
public:
  explicit delivery_thread(caf::actor_system& system);
  ~delivery_thread() override;

  /// Called by CAF for an actor that was waiting when it got a message.
  void exec_later(caf::resumable* ready) override;

private:
  bool runs_one_ = false;
};

/// Hands a frame to a worker, from any thread. Where that is a `delivery_thread` the worker may run before this
/// returns.
void deliver(const caf::actor& to, frame f);

} // namespace gossamer::actors
