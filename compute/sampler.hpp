#pragma once

#include "gossamer/base/philox.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace gossamer::compute {

/// The order in which one worker visits its shard: a fresh random permutation per epoch, without
/// replacement. The permutations follow one another without a gap, and step t takes the positions
/// t * batch_size, t * batch_size + 1, ... of that sequence. Hence all batches have the same size,
/// an epoch's last batch takes its missing samples from the next epoch, and a batch that is larger
/// than the shard holds each sample about equally often.
///
/// The batch of a step depends on the shard, the stream and the step alone, so it can be repeated after
/// a restart. Where a worker gets another shard, another sampler begins in the middle: its step t is
/// where it is in a run that had that shard from the beginning.
/// Cost: O(batch_size), and O(shard) whenever the epoch changes.
/// Threads: one thread at a time. Allocates nothing after construction.
class sampler {
public:
  /// @error errc::usage when the shard is empty or the batch size 0
  sampler(std::vector<std::uint32_t> shard, std::size_t batch_size, const random_stream& stream);
  /// The samples of this step; valid until the next call.
  std::span<const std::uint32_t> batch_of(std::uint64_t step);

private:
  void shuffle_for(std::uint64_t epoch);

  std::vector<std::uint32_t> shard_;
  std::vector<std::uint32_t> order_;
  std::vector<std::uint32_t> batch_;
  random_stream stream_;
  std::uint64_t epoch_ = UINT64_MAX;
};

} // namespace gossamer::compute
