#include "gossamer/base/philox.hpp"
#include "gossamer/compute/data/detail/canvas.hpp"
#include "gossamer/compute/data/detail/entries.hpp"
#include "gossamer/compute/data/detail/synthetic.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gossamer::compute::detail {

namespace {

constexpr std::size_t pixels = canvas::side * canvas::side;

struct hand {
  float distortion;
  float noise;
};

/// The map from the unit square of a glyph to pixels.
struct placement {
  float xx, xy, yx, yy;
  point centre;
  point operator()(point p) const {
    const float x = p.x - 0.5f, y = p.y - 0.5f;
    return {centre.x + xx * x + xy * y, centre.y + yx * x + yy * y};
  }
};

/// Uniform in [-range, range].
float about_zero(random_sequence& random, float range) { return range * (2 * random.uniform() - 1); }

/// Scale, then slant, then rotation, then shift. The ranges are such that, with the defaults, a
/// linear classifier stays near 83 % and a perceptron of 100 hidden units reaches 98 %.
/// Trigonometry differs between machines, so the rotation is drawn by the tangent h of half its
/// angle: cos = (1 - h^2) / (1 + h^2), sin = 2h / (1 + h^2).
placement random_placement(const hand& writer, random_sequence& random) {
  constexpr float size = 22;
  const float d = writer.distortion;
  const float half = about_zero(random, 0.17f * d);
  const float cos = (1 - half * half) / (1 + half * half), sin = 2 * half / (1 + half * half);
  const float slant = about_zero(random, 0.34f * d);
  const float width = size * (1 + about_zero(random, 0.22f * d));
  const float height = size * (1 + about_zero(random, 0.17f * d));
  const float middle = static_cast<float>(canvas::side) / 2;
  const point centre{middle + about_zero(random, 2.8f * d), middle + about_zero(random, 2.8f * d)};
  return {width * cos, height * (-slant * cos - sin), width * sin, height * (cos - slant * sin), centre};
}

canvas write(const glyph& shape, const hand& writer, random_sequence& random) {
  const auto placed = random_placement(writer, random);
  canvas paper(1.1f + about_zero(random, 0.4f));
  std::vector<point> path;
  for (const auto& [smooth, points] : shape) {
    path.clear();
    for (const auto& p : points) {
      const float wobble = 0.04f * writer.distortion;
      path.push_back(placed({p.x + about_zero(random, wobble), p.y + about_zero(random, wobble)}));
    }
    paper.draw(smooth, path);
  }
  return paper;
}

/// Nearly normal with mean 0 and variance 1: the sum of the word's four bytes.
float rough_normal(std::uint32_t word) {
  const auto sum = (word & 255) + (word >> 8 & 255) + (word >> 16 & 255) + (word >> 24);
  constexpr float mean = 510, deviation = 147.8f;
  return (static_cast<float>(static_cast<std::int32_t>(sum)) - mean) / deviation;
}

/// Adds the picture of one digit. It depends on (seed, part, index) alone.
void append(large_vector<float>& dense, std::size_t digit, const hand& writer, const random_stream& shapes,
            const random_stream& noise, std::size_t index) {
  random_sequence random{shapes, index};
  const auto styles = glyphs_of(digit);
  const auto paper = write(styles[random.below(static_cast<std::uint32_t>(styles.size()))], writer, random);
  const float pressure = 0.75f + 0.25f * random.uniform();
  std::array<std::uint32_t, pixels> words;
  noise.fill(index, 0, words);
  auto picture = paper.ink();
  for (std::size_t i = 0; i < pixels; ++i)
    picture[i] = std::clamp(pressure * picture[i] + writer.noise * rough_normal(words[i]), 0.0f, 1.0f);
  dense.insert(dense.end(), picture.begin(), picture.end());
}

dataset draw_digits(std::size_t samples, const hand& writer, std::uint64_t seed, part which) {
  check_size(samples, pixels);
  dataset data;
  data.samples = samples;
  data.features = pixels;
  data.shape = {1, 28, 28};
  data.classes = 10;
  for (std::size_t digit = 0; digit < 10; ++digit)
    data.class_names.push_back(fmt::format("{}", digit));
  const auto rank = static_cast<std::uint32_t>(which);
  const random_stream shapes{seed, rank, purpose::synthetic};
  const random_stream noise{seed, rank + 2, purpose::synthetic};
  data.dense.reserve(samples * pixels);
  for (std::size_t i = 0; i < samples; ++i) {
    append(data.dense, i % 10, writer, shapes, noise, i);
    data.targets.push_back(static_cast<float>(i % 10));
  }
  return data;
}

data_split load_digits(const arguments& given, const data_files&, std::uint64_t seed) {
  const hand writer{given.real32("distortion"), given.real32("noise")};
  return {draw_digits(static_cast<std::size_t>(given.integer("samples")), writer, seed, part::train),
          draw_digits(static_cast<std::size_t>(given.integer("test")), writer, seed, part::test)};
}

} // namespace

data_entry digits_data() {
  return {.about = {.name = "digits",
                    .summary = "drawn pictures of the ten digits, 28 x 28 pixels: like MNIST, but needs no files",
                    .maths = "sample i is the digit i mod 10, in one of 2 or 3 ways of writing it\n"
                             "its strokes are displaced point by point, scaled, slanted, rotated and "
                             "shifted at random,\n"
                             "drawn with a pen of random width, and each pixel gets noise * N(0, 1); "
                             "features in [0, 1]\n"
                             "distortion scales the displacements; a sample depends on (seed, i) alone",
                    .reference = "curves: Catmull, Rom, \"A class of local interpolating splines\", 1974",
                    .cost = "about 5 us a picture; memory: 3 KiB a picture",
                    .parameters =
                        {
                            samples_parameter("30000"),
                            test_samples_parameter("5000"),
                            {.key = "noise",
                             .fallback = "0.1",
                             .meaning = "deviation of the noise of a pixel, whose ink is 1",
                             .min = 0,
                             .max = 10},
                            {.key = "distortion",
                             .fallback = "1.2",
                             .meaning = "0: all pictures of one style are alike",
                             .min = 0,
                             .max = 3},
                        }},
          .load = load_digits};
}

} // namespace gossamer::compute::detail
