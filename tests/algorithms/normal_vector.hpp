#pragma once

#include "gossamer/base/philox.hpp"
#include "gossamer/base/vec.hpp"

#include <cstdint>

namespace gossamer::testing_support {

/// A vector of normal numbers, another one for each i.
inline vec normal(std::size_t size, std::uint32_t i) {
  buffer_pool pool;
  vec v{pool, size};
  random_sequence draw{{3, i, purpose::synthetic}, 0};
  for (auto& value : v.mutate())
    value = static_cast<float>(draw.normal());
  return v;
}

} // namespace gossamer::testing_support
