#pragma once

#include "gossamer/actors/frames/frame.hpp"
#include "gossamer/actors/worker/view.hpp"
#include "gossamer/base/vec.hpp"

#include <chrono>
#include <string_view>

namespace gossamer::actors {

/// One half of an exchange between two workers, and the change that it made to a model.
struct exchange_half {
  rank asker, answerer;
  std::uint32_t asker_incarnation, answerer_incarnation;
  std::uint64_t number; ///< among the asker's exchanges
  /// In the asker's half: checkpoints have both halves or none (`worker::exchange`).
  bool atomic = false;
};

/// Hears of workers' actions and of their algorithms' claims. The simulated world checks claims and draws waits; other
/// worlds measure waits (`worker_gauge`) and draw them if asked (`run_trace`), and a claim costs little.
///
/// Algorithms make claims through their worker (worker.hpp), in the line that makes the claim true.
class witness {
public:
  virtual ~witness() = default;

  /// A worker begins to exist, or ends.
  virtual void begins(rank /*who*/, std::uint32_t /*incarnation*/) {}
  virtual void ends(rank /*who*/, std::uint32_t /*incarnation*/) {}
  virtual void adopts(rank /*who*/, const view& /*v*/) {}
  /// `who` believes, after a gradient, that it has sent `ledger` so far.
  virtual void reports(rank /*who*/, const traffic& /*ledger*/) {}

  /// `who` begins to wait for a frame from `whom`; and the wait ends, with a frame or without.
  virtual void wait_begins(rank /*who*/, rank /*whom*/, const tag& /*wanted*/) {}
  virtual void wait_ends(rank /*who*/, rank /*whom*/) {}
  /// `who` begins to wait for so long, or for the end of training.
  virtual void pauses(rank /*who*/, std::chrono::nanoseconds /*lasts*/) {}
  /// `who` begins step t in the view in force.
  virtual void step_begins(rank /*who*/, std::uint64_t /*t*/, const view& /*v*/) {}
  /// `who` gets the frame, in its turn.
  virtual void delivered(rank /*who*/, const frame& /*f*/) {}
  /// `who` is about to begin step t and drops this frame unread: it is of a step before the last.
  virtual void dropped_stale(rank /*who*/, const frame& /*f*/, std::uint64_t /*t*/) {}

  /// `who` is about to leave and hands this over to `heir`; later `who` adds what `from`, which has left, handed over.
  virtual void hands_over(rank /*who*/, rank /*heir*/, const vec& /*residual*/) {}
  virtual void takes_over(rank /*who*/, rank /*from*/, const vec& /*residual*/, const vec& /*before*/,
                          const vec& /*after*/) {}

  /// `who`, a master, begins anew from a worker's memory: its state has died with its process, and with it the halves
  /// of exchanges that it had applied.
  virtual void recalls(rank /*who*/) {}

  /// `who` saves its present state for the checkpoint of this number.
  virtual void saves(rank /*who*/, std::uint64_t /*number*/) {}

  /// All workers that make a claim of this name and step hold the same bits.
  virtual void claims_equal(rank /*who*/, std::string_view /*what*/, std::uint64_t /*step*/, const vec& /*v*/) {}
  /// The sum over all members is the same before and after.
  virtual void claims_conserved(rank /*who*/, std::string_view /*what*/, std::uint64_t /*step*/, const view& /*v*/,
                                const vec& /*before*/, const vec& /*after*/) {}
  /// The partner of this exchange adds exactly -delta to its model.
  virtual void claims_opposite(rank /*who*/, const exchange_half& /*half*/, const vec& /*delta*/) {}
};

} // namespace gossamer::actors
