#include "gossamer/compute/stratified.hpp"

#include "gossamer/base/philox.hpp"

#include <algorithm>

namespace gossamer::compute {

std::vector<std::uint32_t> stratified_sample(std::size_t samples, std::size_t most) {
  std::vector<std::uint32_t> indices(std::min(samples, most));
  random_sequence draw{random_stream{0, 0, purpose::draw}, 0};
  for (std::size_t k = 0; k < indices.size(); ++k) {
    const auto begin = k * samples / indices.size(), end = (k + 1) * samples / indices.size();
    indices[k] = static_cast<std::uint32_t>(begin + draw.below(static_cast<std::uint32_t>(end - begin)));
  }
  return indices;
}

} // namespace gossamer::compute
