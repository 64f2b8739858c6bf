#pragma once

#include "gossamer/actors/worker/worker.hpp"

namespace gossamer::actors {

/// The common part of DiLoCo and its synchronous kin: a worker trains alone, and tells others only now and then how far
/// it has moved since, theta - x.
///
/// When a worker leaves, its heir gets the move that it has not told yet, and adds it to its own in its next exchange:
/// the sum of all moves is as if the worker had stayed until then, while their mean is over those that are there. With
/// `--islands` nothing is handed over, because the others of an island have moved likewise: the steps of a worker that
/// leaves alone on its island are lost.
class untold_move : public algorithm {
public:
  vec residual() const override { return inherited_.empty() ? zeros_like(model()) : inherited_; }
  vec handed_over(const worker& w) const override { return w.islands().are_shared() ? vec{} : residual() + move(); }
  void take_over(const vec& theirs) override { inherited_ = residual() + theirs; }

protected:
  /// The model that goes into an exchange, with the moves that were inherited. Copies nothing if there are none.
  vec told(const vec& x) const { return inherited_.empty() ? x : x - inherited_; }

  vec inherited_; ///< moves of workers that have left; empty: there are none. One of the `fields`, emptied by `inherit`

private:
  /// theta - x
  virtual vec move() const = 0;
};

} // namespace gossamer::actors
