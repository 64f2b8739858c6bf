#pragma once

#include "gossamer/base/philox.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace gossamer::compute {

/// The order in which one worker visits its shard: a fresh random permutation per epoch, without replacement. The
/// permutations follow one another without a gap, and step t takes the positions t * batch_size, t * batch_size + 1,
/// ... of that sequence. Hence all batches have the same size, an epoch's last batch takes its missing samples from the
/// next epoch, and a batch that is larger than the shard holds each sample about equally often.
///
/// Blocks are for data that are larger than memory: the samples of an epoch are then read in long pieces. The shard in
/// ascending order is cut into blocks of `block` samples, an epoch visits them in a random order, and the samples of
/// each `blocks_together` that follow each other there are in a random order among themselves. Such an epoch is a
/// permutation too, but not any; how much that costs depends on how much the blocks differ. Source: CorgiPile (Xu, Qiu,
/// Yuan, Jiang, Renggli, Gan, Kara, Li, Liu, Wu, Ye, Zhang, "In-database machine learning with CorgiPile: stochastic
/// gradient descent without full data shuffle", SIGMOD 2022).
///
/// The batch of a step depends on the shard, the stream and the step alone, so it can be repeated after a restart. A
/// worker that gets another shard begins another sampler in the middle: its step t equals step t of a run that had that
/// shard from the beginning.
/// Cost: O(batch_size), and O(shard) whenever the epoch changes.
/// Threads: one thread at a time. Allocates nothing after construction.
class sampler {
public:
  static constexpr std::size_t blocks_together = 16;

  /// @param block samples; 0: without blocks
  /// @error errc::usage when the shard is empty or the batch size 0
  sampler(std::vector<std::uint32_t> shard, std::size_t batch_size, const random_stream& stream, std::size_t block = 0);
  /// The samples of this step; valid until the next call.
  std::span<const std::uint32_t> batch_of(std::uint64_t step);

private:
  void shuffle_for(std::uint64_t epoch);
  void shuffle_blocks(random_sequence& random);

  std::vector<std::uint32_t> shard_;
  std::vector<std::uint32_t> order_;
  std::vector<std::uint32_t> batch_;
  std::size_t block_;
  std::vector<std::uint32_t> blocks_; ///< in the order of the epoch; empty without blocks
  random_stream stream_;
  std::uint64_t epoch_ = UINT64_MAX;
};

} // namespace gossamer::compute
