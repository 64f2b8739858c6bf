#pragma once

#include "gossamer/actors/collectives/route.hpp"
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
      : over_senders_(given.is("aggregate", "senders")), clips_(given.is("clip", "median")),
        way_(ring_or_direct(given)) {}

  /// The mean of what all members' packets deliver, the same bits on all of them. Cost: as `all_gather`, and the memory
  /// of n vectors, but that of two for the plain mean.
  /// @param t names the round, as for `all_gather`. @error as `worker::decode`
  task<vec> of_all(worker& w, packet mine, std::uint64_t t) const;

private:
  vec of(const worker& w, std::span<const packet> packets) const;

  bool over_senders_, clips_;
  route way_;
};

/// An algorithm's own parameters, followed by `aggregate`, `clip` and `collective`.
std::vector<parameter> with_gathered_mean(std::vector<parameter> own);

} // namespace gossamer::actors
