#include "gossamer/base/philox.hpp"
#include "gossamer/compute/data/detail/entries.hpp"
#include "gossamer/compute/data/detail/synthetic.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace gossamer::compute::detail {

namespace {

/// What rows are drawn of: pairs of words, each with one word for each class.
struct language {
  std::vector<double> up_to; ///< by pair: probability of this one and all before it, by Zipf's law
  std::size_t words;         ///< of a row
  double polarity;
};

std::vector<double> zipf(std::size_t pairs) {
  std::vector<double> up_to(pairs);
  double sum = 0;
  for (std::size_t r = 0; r < pairs; ++r)
    up_to[r] = sum += 1 / static_cast<double>(r + 1);
  for (auto& value : up_to)
    value /= sum;
  return up_to;
}

std::uint32_t word_of(const language& l, bool positive, random_sequence& random) {
  const auto drawn = std::ranges::upper_bound(l.up_to, random.uniform_double()) - l.up_to.begin();
  const auto pair = std::min(static_cast<std::size_t>(drawn), l.up_to.size() - 1);
  const bool agrees = random.uniform_double() < (1 + l.polarity) / 2;
  return static_cast<std::uint32_t>(2 * pair + (positive == agrees ? 1 : 0));
}

void draw_row(const language& l, bool positive, random_sequence& random, dataset& data) {
  std::map<std::uint32_t, std::uint32_t> counts;
  for (std::size_t i = 0; i < l.words; ++i)
    ++counts[word_of(l, positive, random)];
  double squares = 0;
  for (const auto& [column, count] : counts)
    squares += static_cast<double>(count) * count;
  for (const auto& [column, count] : counts) {
    data.columns.push_back(column);
    data.values.push_back(static_cast<float>(count / std::sqrt(squares)));
  }
  data.row_start.push_back(data.columns.size());
}

dataset draw_words(const language& l, std::uint32_t features, std::size_t samples, std::uint64_t seed, part which) {
  dataset data;
  data.samples = samples;
  data.features = features;
  data.classes = 2;
  data.class_names = {"0", "1"};
  data.row_start.push_back(0);
  const random_stream stream{seed, static_cast<std::uint32_t>(which), purpose::synthetic};
  for (std::size_t i = 0; i < samples; ++i) {
    random_sequence random{stream, i};
    const bool positive = random.below(2) == 1;
    data.targets.push_back(positive ? 1.0f : 0.0f);
    draw_row(l, positive, random, data);
  }
  return data;
}

data_split load_words(const arguments& given, const data_files&, std::uint64_t seed) {
  const auto features = static_cast<std::uint32_t>(given.integer("features"));
  const auto samples = static_cast<std::size_t>(given.integer("samples"));
  const auto tests = static_cast<std::size_t>(given.integer("test"));
  const language l{zipf(features / 2), static_cast<std::size_t>(given.integer("words")), given.real("polarity")};
  check_size(std::max(samples, tests), l.words);
  return {draw_words(l, features, samples, seed, part::train), draw_words(l, features, tests, seed, part::test)};
}

} // namespace

data_entry words_data() {
  return {.about = {.name = "words",
                    .summary = "two classes of texts as counts of their words: sparse rows of length 1, some words "
                               "far more frequent than others",
                    .maths =
                        "words come in pairs 2r, 2r + 1, r = 0, 1, ..., the word of class 0 and that of class 1\n"
                        "label ~ uniform; each word of a row: P(r) proportional to 1 / (r + 1), and the label's of "
                        "the pair with probability (1 + polarity) / 2\n"
                        "row = counts / |counts|_2; the classes' log-odds are linear in the counts, with weights "
                        "+-log((1 + polarity) / (1 - polarity))",
                    .reference = "the naive Bayes model of text, with word frequencies by Zipf's law",
                    .cost = "about 100 ns a word; memory: 8 bytes for each word that differs",
                    .parameters =
                        {
                            samples_parameter("10000"),
                            test_samples_parameter("2000"),
                            {.key = "features",
                             .kind = parameter::type::integer,
                             .fallback = "10000",
                             .meaning = "words that there are",
                             .min = 2,
                             .max = 1e8},
                            {.key = "words",
                             .kind = parameter::type::integer,
                             .fallback = "50",
                             .meaning = "words of a row, with those that repeat",
                             .min = 1,
                             .max = 1e6},
                            {.key = "polarity",
                             .kind = parameter::type::real,
                             .fallback = "0.3",
                             .meaning = "how much words say of the class: 0 nothing, 1 all",
                             .min = 0,
                             .max = 1},
                        }},
          .load = load_words};
}

} // namespace gossamer::compute::detail
