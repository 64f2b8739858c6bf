#pragma once

#include "gossamer/actors/frames/frame.hpp"
#include "gossamer/base/vec.hpp"

#include <chrono>
#include <memory>
#include <optional>

namespace gossamer::compute {
class redealt_shards;
}

namespace gossamer::actors {

struct view;

/// A request to a compute actor. The l2 term of a model is part of every gradient.
struct gradient_job {
  enum class kind : std::uint8_t {
    minibatch,  ///< the mean gradient at x over the worker's minibatch of this step
    difference, ///< the mean of grad f_a(x) - grad f_a(anchor), over a minibatch drawn from all samples
    full_part,  ///< the sum of the gradients at x over one of `parts` equal parts of all samples
  };
  std::uint64_t step = 0;
  vec x;
  kind what = kind::minibatch;
  vec anchor = {};
  std::uint32_t part = 0, parts = 1;
  std::shared_ptr<const compute::redealt_shards> shards = nullptr; ///< shards of the minibatch; null: the partition's
  std::shared_ptr<const view> present = nullptr; ///< the view in force, for a model that computes elsewhere; else null
  double epoch = 0;                              ///< likewise, as `worker::epoch` has it
};

/// A compute actor's answer to a gradient_job.
struct gradient_result {
  std::uint64_t step = 0;
  vec gradient;
  double loss = 0;    ///< mean at x over the samples
  bool update = true; ///< counts as an update; false for a part of the full gradient
};

/// A worker's message to its node after each gradient.
struct step_report {
  rank source = 0;
  std::uint32_t incarnation = 0;
  std::uint64_t step = 0; ///< gradients of this worker so far
  double loss = 0;
  traffic sent = {};              ///< of this worker, since the start
  std::uint64_t stale_frames = 0; ///< dropped since the last report, because no coroutine received them in time
};

/// A worker's model at one moment, for an evaluation.
struct snapshot {
  rank source = 0;
  std::uint32_t incarnation = 0;
  std::uint64_t evaluation = 0; ///< number of the evaluation
  std::uint64_t gradients = 0;  ///< of this worker so far
  vec model;
  traffic sent;
};

/// Services that a worker needs of its host: an actor, or a test.
class worker_host {
public:
  virtual ~worker_host() = default;
  /// Starts a gradient at x; `hosted_worker::gradient_arrived` delivers the answer.
  virtual void compute(gradient_job job) = 0;
  virtual void report(step_report) = 0;
  virtual void report(snapshot) = 0;
  virtual void send(rank to, frame f) = 0;
  virtual traffic sent() const = 0;
  /// The world's time, since any fixed moment: virtual in a simulation.
  virtual std::chrono::nanoseconds now() const = 0;
  /// Calls `hosted_worker::wake` once `now()` has reached this time.
  virtual void wake_at(std::chrono::nanoseconds time) = 0;
  /// Like `connections::has_room`. After a false, `hosted_worker::more_room` says when to ask again.
  virtual bool has_room(std::optional<rank> /*to*/) const { return true; }
  /// Like `worker::gradient_applied`.
  virtual void gradient_applied(std::uint64_t /*staleness*/) {}
  /// Reports that the worker has got the state of another one and goes on.
  virtual void joined(std::uint64_t /*step*/) {}
  /// Reports that the worker has paused for a `parting`.
  virtual void paused() {}
  /// Keeps the worker's state (`hosted_worker::state`) for its next incarnation, where workers may die.
  virtual void save() {}
  /// Saves the worker's present state for the checkpoint of this number.
  virtual void checkpoint(std::uint64_t /*number*/) {}
};

} // namespace gossamer::actors
