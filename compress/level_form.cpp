#include "gossamer/compress/detail/level_form.hpp"

#include "gossamer/compress/detail/levels.hpp"

#include <algorithm>

namespace gossamer::compress::detail {

vec level_packet::values(buffer_pool pool, std::uint64_t elements) const {
  if (codes == nullptr)
    return {pool, elements};
  vec v{pool.allocate(elements * sizeof(float))};
  values(0, v.overwrite());
  return v;
}

void level_packet::values(std::size_t first, std::span<float> to) const {
  if (codes == nullptr) {
    std::ranges::fill(to, 0.0f);
    return;
  }
  const auto grid_of = [&](std::size_t r) { return form.grid(numbers + form.floats() * r); };
  decode_levels(form.bits, codes, form.row, grid_of, to, first);
}

} // namespace gossamer::compress::detail
