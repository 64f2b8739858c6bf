#pragma once

#include "gossamer/actors/worker/worker.hpp"

namespace gossamer::actors {

/// A worker as its host drives it: the host delivers frames, gradients and the changes that all workers make together.
/// The algorithm that runs in it sees only the base class. Threads: actor-confined.
class hosted_worker : public worker {
public:
  hosted_worker(worker_settings settings, std::unique_ptr<compute::optimiser> optimiser, worker_host& host)
      : worker(std::move(settings), std::move(optimiser), host) {}

  /// Starts the algorithm. A joining worker starts it once it has the state of another worker. Frames may come before:
  /// a peer that began earlier may even be past a checkpoint, which this worker then saves as it begins.
  void run(algorithm& a);
  void deliver(frame f);
  void gradient_arrived(gradient_result result);
  /// First half of every change that all workers make together. Until `proceed` no step begins, and no frame ends one.
  /// @returns the step that this worker is in, or about to begin
  std::uint64_t hold();
  /// The first step, from the present one on, in which this worker exchanges something.
  using worker::next_exchange;
  /// Second half of every change that all workers make together.
  /// @param limit no step from this one on begins
  /// @param save_at the checkpoint of this number takes the state at the beginning of this step; 0: no checkpoint
  /// @param leaving the workers that leave, and the step before which all pause for it
  void proceed(std::uint64_t limit, std::uint64_t save_at = 0, const parting& leaving = {});
  /// Saves the state for a checkpoint now; for an asynchronous worker, or one that has finished.
  void checkpoint(std::uint64_t number);
  /// Reports that less is under way than when the host had no room.
  void more_room();
  /// The time has come for which the host was asked (`worker_host::wake_at`).
  void wake();
  /// Takes over a later view, now or at its first step. It may lack a lost peer or contain one that is back.
  void adopt(std::shared_ptr<const view> next);
  /// False before `run`, and while the worker awaits the state of another one. A view that no longer promises a state
  /// makes it go on from its own.
  using worker::has_state;
  void progressed(std::uint64_t updates) noexcept { updates_ = std::max(updates_, updates); }
  /// Sends the worker's model to its host, for this evaluation.
  using worker::take_snapshot;
  /// All data that a later step depends on: the fields of the algorithm and of the optimiser, and the number of encoded
  /// vectors.
  using worker::state;
  /// True if `run` was called and all coroutines have ended; frames may come before that. @error the exception that
  /// ended a coroutine; errc::usage if they have ended in the middle of a step
  bool finished();
  /// What its coroutines wait for.
  std::span<const inbox::reception* const> waits() const noexcept { return inbox_.waits(); }
  std::uint64_t gradients_done() const noexcept { return gradients_; }
  using worker::model;
};

} // namespace gossamer::actors
