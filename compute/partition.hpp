#pragma once

#include "gossamer/base/registry.hpp"
#include "gossamer/compute/dataset.hpp"

#include <vector>

namespace gossamer::compute {

/// The samples of each worker, by index; disjoint, and together all samples. Every worker gets at least one.
using shards = std::vector<std::vector<std::uint32_t>>;

struct partition_entry {
  description about;
  shards (*deal)(const arguments&, const dataset& data, std::size_t workers, std::uint64_t seed);
};

/// All partitions: iid, label, dirichlet.
const registry<partition_entry>& partitions();
/// @error errc::usage when there are fewer samples than workers
shards deal(std::string_view text, const dataset& data, std::size_t workers, std::uint64_t seed);

/// The order in which one worker visits its shard: a fresh random permutation per epoch, without replacement.
/// The batch of a step depends on (seed, rank, step) alone, so it can be repeated after a restart.
/// Threads: one thread at a time. Allocates nothing after construction.
class sampler {
public:
  sampler(std::vector<std::uint32_t> shard, std::size_t batch_size, std::uint64_t seed, std::uint32_t rank);
  /// The samples of this step; valid until the next call. Sizes are equal; an epoch's last batch takes its missing
  /// samples from the next epoch.
  std::span<const std::uint32_t> batch_of(std::uint64_t step);

private:
  std::vector<std::uint32_t> shard_;
  std::vector<std::uint32_t> order_;
  std::vector<std::uint32_t> batch_;
  random_stream stream_;
  std::uint64_t epoch_ = UINT64_MAX;
};

} // namespace gossamer::compute
