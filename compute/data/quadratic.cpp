#include "gossamer/base/philox.hpp"
#include "gossamer/compute/data/detail/entries.hpp"
#include "gossamer/compute/data/detail/synthetic.hpp"

namespace gossamer::compute::detail {

namespace {

std::vector<float> centre(std::size_t dim, std::uint64_t seed) {
  random_sequence random{random_stream{seed, 0, purpose::synthetic}, 0};
  std::vector<float> c(dim);
  for (auto& value : c)
    value = static_cast<float>(random.normal());
  return c;
}

dataset draw_around(std::span<const float> around, std::size_t samples, double noise, std::uint64_t seed, part which) {
  dataset data;
  data.samples = samples;
  data.features = around.size();
  data.targets.resize(samples);
  data.dense.reserve(samples * around.size());
  const random_stream stream{seed, static_cast<std::uint32_t>(which), purpose::synthetic};
  for (std::size_t i = 0; i < samples; ++i) {
    random_sequence random{stream, i};
    for (const float c : around)
      data.dense.push_back(static_cast<float>(c + noise * random.normal()));
  }
  return data;
}

data_split load_quadratic(const arguments& given, const data_files&, std::uint64_t seed) {
  const auto samples = static_cast<std::size_t>(given.integer("samples"));
  const auto dim = static_cast<std::size_t>(given.integer("dim"));
  check_size(samples, dim);
  const auto c = centre(dim, seed);
  const auto noise = given.real("noise");
  return {draw_around(c, samples, noise, seed, part::train), draw_around(c, samples, noise, seed, part::test)};
}

} // namespace

data_entry quadratic_data() {
  return {.about = {.name = "quadratic",
                    .summary = "noisy copies of one point, for the quadratic model, whose optimum is their mean",
                    .maths = "c ~ N(0, I); row i = c + noise * N(0, I); targets 0; as many test rows are drawn "
                             "alike\n"
                             "a gradient at a sample has the variance noise^2 * curvature^2 in each coordinate",
                    .reference = "the stochastic quadratic problem on which convergence theory is checked",
                    .cost = "about 30 ns an entry; memory: 4 bytes for it",
                    .parameters =
                        {
                            samples_parameter("1000"),
                            {.key = "dim",
                             .kind = parameter::type::integer,
                             .fallback = "100",
                             .meaning = "coordinates of the point",
                             .min = 1,
                             .max = 1e8},
                            {.key = "noise",
                             .fallback = "1",
                             .meaning = "deviation of the copies, in each coordinate",
                             .min = 0,
                             .max = 1e6},
                        }},
          .load = load_quadratic};
}

} // namespace gossamer::compute::detail
