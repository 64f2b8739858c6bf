#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gossamer::compute {

/// Returns the indices of at most `most` samples that stand for a whole set, ascending: all of them, or one drawn from
/// each of `most` equal parts of the set. Equal arguments give equal indices, on all machines. A set may be sorted by
/// class, which no part notices, or have classes in turn, of which samples at equal distances might show one alone.
/// Requires samples <= 2^32.
std::vector<std::uint32_t> stratified_sample(std::size_t samples, std::size_t most);

} // namespace gossamer::compute
