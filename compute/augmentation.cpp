#include "gossamer/compute/augmentation.hpp"

#include "gossamer/base/error.hpp"

#include <algorithm>
#include <cstddef>

namespace gossamer::compute {

namespace {

/// Uniform in 0 .. bound - 1; the bounds are so small that the bias does not show.
std::size_t below(std::size_t bound, std::uint32_t word) {
  return static_cast<std::size_t>(std::uint64_t{word} * bound >> 32);
}

} // namespace

void augment(std::span<const float> from, std::span<float> to, const dataset& data, const random_stream& random,
             std::uint64_t step, std::uint32_t sample) {
  GOSSAMER_ASSERT(data.shape.size() == 3, "only pictures are cut and mirrored");
  const auto rows = data.shape[1], columns = data.shape[2], padding = data.augmentation.padding;
  const auto word = [&](std::uint64_t i) { return random.word(step, 4 * std::uint64_t{sample} + i); };
  const auto down = below(2 * padding + 1, word(0)), right = below(2 * padding + 1, word(1));
  const bool mirrored = data.augmentation.mirror && (word(2) & 1) != 0;
  std::ranges::fill(to, 0.0f);
  for (std::size_t row = 0; row < data.shape[0] * rows; ++row) {
    const auto source = row % rows + down; // in the padded picture
    if (source < padding || source >= rows + padding)
      continue;
    const auto pixels = from.subspan((row - row % rows + source - padding) * columns, columns);
    const auto out = to.subspan(row * columns, columns);
    for (std::size_t c = 0; c < columns; ++c) {
      const auto at = (mirrored ? columns - 1 - c : c) + right;
      if (at >= padding && at < columns + padding)
        out[c] = pixels[at - padding];
    }
  }
}

} // namespace gossamer::compute
