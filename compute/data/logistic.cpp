#include "gossamer/base/philox.hpp"
#include "gossamer/compute/data/detail/entries.hpp"
#include "gossamer/compute/data/detail/synthetic.hpp"

#include <algorithm>
#include <cmath>

namespace gossamer::compute::detail {

namespace {

struct task {
  std::uint64_t seed;
  std::uint32_t features;
  std::uint32_t stored; ///< entries that a row holds
  double noise;
};

/// A random direction of length 1.
std::vector<double> hyperplane(const task& t) {
  random_sequence random{random_stream{t.seed, 0, purpose::synthetic}, 0};
  std::vector<double> w(t.features);
  double squares = 0;
  for (auto& value : w) {
    value = random.normal();
    squares += value * value;
  }
  for (auto& value : w)
    value /= std::sqrt(squares);
  return w;
}

/// A uniformly random set of columns, ascending (Floyd 1987). `taken` is all false before and
/// after.
void choose_columns(const task& t, random_sequence& random, std::vector<bool>& taken,
                    std::vector<std::uint32_t>& columns) {
  const auto begin = columns.size();
  for (auto limit = t.features - t.stored; limit < t.features; ++limit) {
    const auto drawn = random.below(limit + 1);
    const auto column = taken[drawn] ? limit : drawn;
    taken[column] = true;
    columns.push_back(column);
  }
  for (auto i = begin; i < columns.size(); ++i)
    taken[columns[i]] = false;
  std::sort(columns.begin() + static_cast<std::ptrdiff_t>(begin), columns.end());
}

bool label_of(double margin, double noise, random_sequence& random) {
  if (noise == 0)
    return margin > 0;
  return random.uniform_double() < 1 / (1 + std::exp(-margin / noise));
}

dataset draw_logistic(const task& t, std::size_t samples, part which, const std::vector<double>& w) {
  dataset data;
  data.samples = samples;
  data.features = t.features;
  data.classes = 2;
  data.class_names = {"0", "1"};
  const bool sparse = t.stored < t.features;
  if (sparse)
    data.row_start.push_back(0);
  const double scale = std::sqrt(static_cast<double>(t.features) / t.stored);
  const random_stream stream{t.seed, static_cast<std::uint32_t>(which), purpose::synthetic};
  std::vector<bool> taken(t.features);
  auto& values = sparse ? data.values : data.dense;
  for (std::size_t i = 0; i < samples; ++i) {
    random_sequence random{stream, i};
    if (sparse)
      choose_columns(t, random, taken, data.columns);
    const auto first = values.size();
    double margin = 0;
    for (std::size_t j = 0; j < t.stored; ++j) {
      values.push_back(static_cast<float>(scale * random.normal()));
      margin += w[sparse ? data.columns[first + j] : j] * values.back();
    }
    if (sparse)
      data.row_start.push_back(data.columns.size());
    data.targets.push_back(label_of(margin, t.noise, random) ? 1.0f : 0.0f);
  }
  return data;
}

data_split load_logistic(const arguments& given, const data_files&, std::uint64_t seed) {
  const auto features = static_cast<std::uint32_t>(given.integer("features"));
  const auto stored = static_cast<std::uint32_t>(std::lround(given.real("density") * features));
  const task t{seed, features, std::clamp(stored, 1u, features), given.real("noise")};
  const auto samples = static_cast<std::size_t>(given.integer("samples"));
  const auto tests = static_cast<std::size_t>(given.integer("test"));
  check_size(std::max(samples, tests), t.stored);
  const auto w = hyperplane(t);
  return {draw_logistic(t, samples, part::train, w), draw_logistic(t, tests, part::test, w)};
}

} // namespace

data_entry logistic_data() {
  return {.about = {.name = "logistic",
                    .summary = "two classes on both sides of a random hyperplane, drawn from the logistic model",
                    .maths = "w ~ uniform on the unit sphere; a row stores k = max(1, round(density * "
                             "features)) entries,\n"
                             "in random columns, each N(0, features / k): the covariance of rows is the "
                             "identity\n"
                             "P(label = 1 | x) = 1 / (1 + exp(-<w, x> / noise)); noise = 0: label = [<w, x> "
                             "> 0]\n"
                             "rows are sparse when k < features",
                    .reference = "the generative model of logistic regression",
                    .cost = "about 30 ns a stored entry; memory: 4 bytes for it when dense, 8 when sparse",
                    .parameters =
                        {
                            samples_parameter("10000"),
                            test_samples_parameter("2000"),
                            {.key = "features",
                             .kind = parameter::type::integer,
                             .fallback = "100",
                             .meaning = "features of a sample",
                             .min = 1,
                             .max = 1e8},
                            {.key = "density",
                             .fallback = "1",
                             .meaning = "share of the features that a row stores",
                             .min = 0,
                             .max = 1},
                            {.key = "noise",
                             .fallback = "0.2",
                             .meaning = "width of the border between the classes, in units of the spread of "
                                        "the data",
                             .min = 0,
                             .max = 1e6},
                        }},
          .load = load_logistic};
}

} // namespace gossamer::compute::detail
