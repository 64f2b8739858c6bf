#include "gossamer/compress/coder.hpp"

namespace gossamer::compress {

vec coder::extract(const selection& kept, vec& v) const {
  vec values{v.pool().allocate(kept.size() * sizeof(float))};
  const auto all = values.overwrite(), rest = v.mutate();
  std::size_t done = 0;
  for (const auto& r : kept.ranges) {
    const auto from = rest.subspan(r.begin, r.size), to = all.subspan(done, r.size);
    assign_scaled(to, kept.factor, from);
    subtract(from, to);
    done += r.size;
  }
  return values;
}

void coder::scatter_add(vec& y, float a, const vec& values, std::size_t first, const selection& kept) const {
  const auto sum = y.mutate();
  for (const auto& r : kept.ranges) {
    add_scaled(sum.subspan(r.begin, r.size), a, values.view().subspan(first, r.size));
    first += r.size;
  }
}

} // namespace gossamer::compress
