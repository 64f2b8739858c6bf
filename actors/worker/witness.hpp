#pragma once

#include "gossamer/actors/frames/frame.hpp"
#include "gossamer/actors/worker/view.hpp"
#include "gossamer/base/vec.hpp"

#include <string_view>

namespace gossamer::actors {

/// One of the two halves of an exchange between two workers: what it added to its own model.
struct exchange_half {
  rank asker, answerer;
  std::uint32_t asker_incarnation, answerer_incarnation;
  std::uint64_t number; ///< among the asker's exchanges
  /// Checkpoints have both halves or none (`worker::exchange`); of the asker's half.
  bool atomic = false;
};

/// Hears what workers do and what their algorithms claim. The simulated world checks claims and draws waits; elsewhere
/// nobody listens, and a claim costs one branch.
///
/// Algorithms make claims through their worker (worker.hpp), in the line where the thing becomes true.
class witness {
public:
  virtual ~witness() = default;

  /// A worker is there, or no more.
  virtual void begins(rank /*who*/, std::uint32_t /*incarnation*/) {}
  virtual void ends(rank /*who*/, std::uint32_t /*incarnation*/) {}
  virtual void adopts(rank /*who*/, const view& /*v*/) {}
  /// What `who` believes to have sent so far, after a gradient.
  virtual void reports(rank /*who*/, const traffic& /*ledger*/) {}

  /// `who` cannot go on before a frame from `whom` is there; and now it can, or has given up.
  virtual void wait_begins(rank /*who*/, rank /*whom*/, const tag& /*wanted*/) {}
  virtual void wait_ends(rank /*who*/, rank /*whom*/) {}
  /// `who` begins step t, of the view in force.
  virtual void step_begins(rank /*who*/, std::uint64_t /*t*/, const view& /*v*/) {}
  /// `who` got the frame, in its turn.
  virtual void delivered(rank /*who*/, const frame& /*f*/) {}
  /// `who` is about to begin step t and has never received this frame, of a step before the last.
  virtual void dropped_stale(rank /*who*/, const frame& /*f*/, std::uint64_t /*t*/) {}

  /// `who` is about to leave, and gives this to `heir`; who adds it to its own, once the other has left.
  virtual void hands_over(rank /*who*/, rank /*heir*/, const vec& /*residual*/) {}
  virtual void takes_over(rank /*who*/, rank /*from*/, const vec& /*residual*/, const vec& /*before*/,
                          const vec& /*after*/) {}

  /// The state of a master has died with its process, and with it the halves that it had applied: `who` begins anew
  /// from what a worker remembers.
  virtual void recalls(rank /*who*/) {}

  /// The state of `who` is what the checkpoint of this number has of it.
  virtual void saves(rank /*who*/, std::uint64_t /*number*/) {}

  /// Everybody who claims something of this name and step holds the same bits.
  virtual void claims_equal(rank /*who*/, std::string_view /*what*/, std::uint64_t /*step*/, const vec& /*v*/) {}
  /// The sum over all members is the same before and after.
  virtual void claims_conserved(rank /*who*/, std::string_view /*what*/, std::uint64_t /*step*/, const view& /*v*/,
                                const vec& /*before*/, const vec& /*after*/) {}
  /// What the other half of this exchange adds to its model is -delta, to the bit.
  virtual void claims_opposite(rank /*who*/, const exchange_half& /*half*/, const vec& /*delta*/) {}
};

} // namespace gossamer::actors
