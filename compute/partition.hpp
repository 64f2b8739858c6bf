#pragma once

#include "gossamer/base/registry.hpp"
#include "gossamer/compute/dataset.hpp"

#include <vector>

namespace gossamer::compute {

/// The samples of each worker, by index; disjoint, and together all samples. Every worker gets at least one. redeal.hpp
/// deals them anew when workers are lost or come.
using shards = std::vector<std::vector<std::uint32_t>>;

struct partition_entry {
  description about;
  shards (*deal)(const arguments&, const dataset& data, std::size_t workers, std::uint64_t seed);
};

/// All partitions: iid, label, dirichlet.
const registry<partition_entry>& partitions();
/// @error errc::usage when there are fewer samples than workers
shards deal(std::string_view text, const dataset& data, std::size_t workers, std::uint64_t seed);

} // namespace gossamer::compute
