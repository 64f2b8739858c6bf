#pragma once

#include "gossamer/actors/worker/worker.hpp"

namespace gossamer::actors {

/// A worker as its host drives it: frames and gradients go in, and changes that all workers make together. The
/// algorithm that runs in it sees the base class alone. Threads: actor-confined.
class hosted_worker : public worker {
public:
  hosted_worker(worker_settings settings, std::unique_ptr<compute::optimiser> optimiser, worker_host& host)
      : worker(std::move(settings), std::move(optimiser), host) {}

  /// Starts the algorithm; where a worker joins, as soon as it has the state of another one.
  void run(algorithm& a);
  void deliver(frame f);
  void gradient_arrived(gradient_result result);
  /// First half of every change that all workers make together: until `proceed` no step begins, and none ends because
  /// of a frame.
  /// @returns the step that this worker is in, or about to begin
  std::uint64_t hold();
  /// The first step from there on in which it exchanges something.
  using worker::next_exchange;
  /// Second half. @param limit no step from this one on begins
  /// @param save_at where this step begins, the state belongs to a checkpoint of its number; 0: nowhere
  /// @param leaving who leaves, and before which step all pause for that
  void proceed(std::uint64_t limit, std::uint64_t save_at = 0, const parting& leaving = {});
  /// A checkpoint is wanted now: of an asynchronous worker, or of one that has finished.
  void checkpoint(std::uint64_t number);
  /// Less is under way than when the host said that there was no room.
  void more_room();
  /// Peer lost, peer back: takes over a later view, now or when its first step comes.
  void adopt(std::shared_ptr<const view> next);
  /// False while the state of another worker is awaited. A view that no longer promises one bids it go on from its own.
  bool ready() const noexcept { return ready_; }
  void progressed(std::uint64_t updates) noexcept { updates_ = std::max(updates_, updates); }
  /// Sends its model to its host, for this evaluation.
  using worker::take_snapshot;
  /// Everything that a later step depends on: the fields of the algorithm and of the optimiser, and how many vectors
  /// were encoded.
  using worker::state;
  /// True when `run` was called and all coroutines have ended; frames may come before that. @error whatever ended one
  /// of them
  bool finished();
  std::uint64_t gradients_done() const noexcept { return gradients_; }
  /// What has been sent, also before the checkpoint from which the run goes on.
  using worker::model;
  using worker::sent;
};

} // namespace gossamer::actors
