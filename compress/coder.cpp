#include "gossamer/compress/coder.hpp"

#include "gossamer/base/work.hpp"
#include "gossamer/compress/detail/packet_blocks.hpp"

#include <algorithm>
#include <array>

namespace gossamer::compress {

void coder::decode_into(std::span<float> to, const packet& p) const {
  if (const auto blocks = detail::packet_blocks::of(p, known_))
    blocks->read(0, to);
  else
    std::ranges::copy(compress::decode(p, known_).view(), to.begin());
}

vec coder::mean(std::span<const packet> packets) const {
  std::vector<detail::packet_blocks> all;
  for (const auto& p : packets) {
    auto blocks = detail::packet_blocks::of(p, known_);
    if (!blocks)
      return mean_of_decoded(packets);
    all.push_back(*std::move(blocks));
  }
  const auto size = packets.front().elements;
  const float share = 1.0f / static_cast<float>(packets.size());
  vec result{packets.front().payload.pool().allocate(size * sizeof(float))};
  const auto sums = result.overwrite();
  std::array<float, detail::level_block> block;
  for (std::size_t first = 0; first < size; first += block.size()) {
    const auto sum = sums.subspan(first, std::min(block.size(), size - first));
    all.front().read(first, sum);
    for (const auto& one : std::span{all}.subspan(1)) {
      const auto next = std::span{block}.first(sum.size());
      one.read(first, next);
      add(sum, next);
    }
    assign_scaled(sum, share, sum);
  }
  return result;
}

vec coder::mean_of_decoded(std::span<const packet> packets) const {
  const auto decoded = [this](const packet& p) {
    const metered unmetered{nullptr}; // the cost of a codec includes all of its parts
    return decode(p);
  };
  vec sum = decoded(packets.front());
  for (const auto& p : packets.subspan(1))
    sum += decoded(p);
  sum *= 1.0f / static_cast<float>(packets.size());
  return sum;
}

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
