#pragma once

#include "gossamer/actors/worker/worker.hpp"

#include <map>
#include <optional>

namespace gossamer::actors {

/// An island (`--islands`) whose workers compute gradients at one model, which its first worker, the head, holds:
///
///   each worker i   g_i = grad F_i(x), sent to the head
///   the head        g = (1/m) sum of the g_i of the m workers that are there; applies it, and answers x to all
///
/// For asynchronous algorithms. Their workers know no step in which all of them enter a view, as the rounds of
/// island_mean.hpp want it; here one worker decides what a step is made of. Questions and answers belong to a view, in
/// which all name one head. When it changes, gradients on their way are lost, and workers go on from the model that
/// they have, the first of those that are left as head.
///
/// Cost: one message and 32d payload bits each way for each worker beside the head and step; two hops. A step waits for
/// the slowest worker of the island. The head holds m - 1 gradients.
/// Threads: actor-confined.
class headed_island {
public:
  /// Begins to hear workers, in each `run`.
  void begin(worker& w);
  /// True without islands.
  static bool is_headed_by(const worker& w);

  // -- the head
  /// The mean of the own gradient and those of all workers of the island; of those that have come, once training is
  /// over.
  task<vec> mean_gradient(worker& w, vec own);
  /// Answers x to the workers whose gradients `mean_gradient` has taken.
  void answer(worker& w, const vec& x);
  /// Answers x to all that ask from now on: training is over.
  void end(worker& w, const vec& x);

  // -- the others
  /// Hands a gradient in, and waits for the head's answer; nothing if the view has changed meanwhile.
  /// @param t names the gradient; unique among this worker's in a view
  static task<std::optional<vec>> model_after(worker& w, const vec& gradient, std::uint64_t t);

private:
  task<> hear(worker& w);
  task<> watch(worker& w);
  const frame* from(const worker& w, rank i) const;
  bool all_have_come(const worker& w) const;
  static void reply(worker& w, const frame& to, const vec& x);

  std::map<rank, frame> handed_in_; ///< the last gradient of each worker
  std::vector<frame> taken_;        ///< into the present step
  std::optional<vec> last_;         ///< the model at the end of training
  signal changed_;
};

} // namespace gossamer::actors
