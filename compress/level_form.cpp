#include "gossamer/compress/detail/level_form.hpp"

#include "gossamer/compress/detail/levels.hpp"

namespace gossamer::compress::detail {

vec level_packet::values(buffer_pool pool, std::uint64_t elements) const {
  if (codes == nullptr)
    return {pool, elements};
  vec v{pool.allocate(elements * sizeof(float))};
  const auto grid_of = [&](std::size_t r) { return form.grid(numbers + form.floats() * r); };
  decode_levels(form.bits, codes, form.row, grid_of, v.overwrite());
  return v;
}

} // namespace gossamer::compress::detail
