#pragma once

#include "gossamer/actors/worker/worker.hpp"

#include <span>
#include <vector>

namespace gossamer::actors {

/// The mean of vectors of which few elements were sent, q_1 to q_n, as the parameters of `with_gathered_mean` say:
///
///   aggregate=workers   (1/n) sum_i q_i
///   aggregate=senders   each element divided by the number of those q_i in which it is not 0
///   clip=median         each q_i longer than the median length of all is scaled down to that first
class gathered_mean {
public:
  explicit gathered_mean(const arguments& given)
      : over_senders_(given.is("aggregate", "senders")), clips_(given.is("clip", "median")) {}

  /// Costs the memory of n vectors, but that of two for the plain mean.
  /// @param packets of at least one worker, in the order of the members: the same bits on all workers that have them
  /// @error as `worker::decode`
  vec operator()(const worker& w, std::span<const packet> packets) const;

private:
  bool over_senders_, clips_;
};

/// An algorithm's own parameters, followed by `aggregate` and `clip`.
std::vector<parameter> with_gathered_mean(std::vector<parameter> own);

} // namespace gossamer::actors
