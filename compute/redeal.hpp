#pragma once

#include "gossamer/compute/partition.hpp"

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace gossamer::compute {

/// Deals the samples of a partition among its present workers and newcomers by consistent hashing. A worker that leaves
/// or comes moves its own samples alone, and the result depends on the partition, the seed and the members alone,
/// whatever happened before.
///
/// n workers have ranks 0 .. n - 1 in the partition, and r(s) is the owner of sample s there; a rank k >= n is a
/// newcomer. Each sample has a list in which all ranks stand in an order of its own, made of rounds i = 0, 1, ...
///
///     round i:  first the newcomers that draw s in this round, the highest first: k does with probability 1 / (k + 1);
///               then b_i(s), where b_0(s) = r(s), and b_i(s) for i > 0 is uniform over 0 .. n - 1
///
/// and the first member of M on the list has s. Hence, for any set M of members,
/// - each sample has one owner, and M = {0, ..., n - 1} gives back the partition, with its order, to the bit;
/// - between M and M + {j} only samples of j move (a list does not depend on M);
/// - the samples of a lost worker go to all others in equal parts, up to chance: each gets 1 / |M| of them;
/// - if the partition was even and newcomers n, ..., K - 1 are all there, each member expects 1 / |M| of the samples;
///   the samples of newcomers that have left go to lower ranks.
///
/// A share is in the order of the partition: first the owner's own samples, then those that it took over, by former
/// owner. Chance may leave a member without samples, which only happens when there are few. It then gets one from the
/// largest share, as in `deal`, and one more sample has moved.
///
/// Source: newcomers are jump consistent hashing, whose jumps are drawn as there (Lamping, Veach, "A fast, minimal
/// memory, consistent hash algorithm", 2014, arXiv 1406.2294); the b_i are a pseudo-random sequence of ranks as in
/// DxHash (Dong, Wang, Feng, "DxHash: a scalable consistent hashing based on the pseudo-random sequence", 2021, arXiv
/// 2107.07930), which differs in that its sequence does not begin with an owner that is given. After 1024 rounds in
/// vain, the member with the highest random weight has the sample (Thaler, Ravishankar, "Using name-based mappings to
/// increase hit rates", IEEE/ACM ToN 1998). That alone would do, but cost O(|M|) for each sample that moves; a round
/// costs 1 + ln(K / n) draws, and n / |M| rounds are expected, none for a sample whose owner is there and no newcomer.
///
/// Cost: O(samples + K), and for each sample that moves n / |M| times 20 ns to 40 ns, at most 1024 times; with
/// newcomers this for all samples. Memory: 4 bytes a sample. Threads: any.
///
/// @param first shards of a partition: at most 2^32 samples
/// @param members ranks, in any order; at least one
/// @returns shards by rank, up to the last member and the last of the partition; empty for ranks that are no members
/// @error errc::usage when there are fewer samples than members
shards redeal(const shards& first, std::uint64_t seed, std::span<const std::uint32_t> members);

/// The result of `redeal`, computed once for all callers, at the first call.
/// Threads: safe; callers wait while it is computed.
class redealt_shards {
public:
  redealt_shards(std::shared_ptr<const shards> first, std::uint64_t seed, std::vector<std::uint32_t> members)
      : first_(std::move(first)), seed_(seed), members_(std::move(members)) {}

  /// The samples of a member. @error as `redeal`
  const std::vector<std::uint32_t>& of(std::uint32_t member) const;

private:
  std::shared_ptr<const shards> first_;
  std::uint64_t seed_;
  std::vector<std::uint32_t> members_;
  mutable std::once_flag made_;
  mutable shards dealt_;
};

} // namespace gossamer::compute
