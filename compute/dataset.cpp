#include "gossamer/compute/dataset.hpp"

#include <algorithm>

namespace gossamer::compute {

void dataset::copy_row(std::size_t i, std::span<float> out) const {
  if (bytes.empty())
    std::copy_n(dense.data() + i * features, features, out.data());
  else
    bytes.copy_sample(i * features, out.first(features));
}

void dataset::begin_reading(std::span<const std::uint32_t> indices) const noexcept {
  if (bytes.mapped)
    for (const auto i : indices)
      detail::begin_reading(bytes.all.data() + i * features, features);
  if (dense.get_allocator().maps(dense.capacity()))
    for (const auto i : indices)
      compute::begin_reading(dense, i * features, features);
}

} // namespace gossamer::compute
