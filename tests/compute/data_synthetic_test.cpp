#include "gossamer/base/vec.hpp"

#include <algorithm>
#include <cmath>

#include "data_support.hpp"

namespace gossamer::compute {
namespace {

using testing::AllOf;
using testing::Each;
using testing::Ge;
using testing::HasSubstr;
using testing::Le;

std::vector<std::size_t> class_counts(const dataset& data) {
  std::vector<std::size_t> counts(data.classes);
  for (std::size_t i = 0; i < data.samples; ++i)
    ++counts.at(data.label(i));
  return counts;
}

TEST(data_sources, describe_themselves) {
  for (const auto& entry : data_sources()) {
    EXPECT_FALSE(entry.about.summary.empty()) << entry.about.name;
    EXPECT_FALSE(entry.about.maths.empty()) << entry.about.name;
    EXPECT_FALSE(entry.about.reference.empty()) << entry.about.name;
    for (const auto& p : entry.about.parameters)
      EXPECT_TRUE(
          !p.meaning.empty()
          && (p.required || !p.fallback.empty() || p.kind == parameter::type::text || p.kind == parameter::type::path))
          << entry.about.name << " " << p.key;
  }
  EXPECT_THAT(load_error(errc::usage, "digit"), HasSubstr("unknown data 'digit'; did you mean 'digits'?"));
}

TEST(synthetic, is_a_function_of_the_seed) {
  for (const char* spec : {"digits:samples=20,test=10", "logistic:samples=20,test=10,features=30",
                           "logistic:samples=20,test=10,features=30,density=0.2",
                           "words:samples=20,test=10,features=30", "quadratic:samples=20,dim=3"}) {
    const auto a = load_data(spec, 7), b = load_data(spec, 7), other = load_data(spec, 8);
    expect_consistent(a);
    EXPECT_EQ(dense_values(a.train), dense_values(b.train)) << spec;
    EXPECT_EQ(a.train.columns, b.train.columns) << spec;
    EXPECT_EQ(a.train.values, b.train.values) << spec;
    EXPECT_EQ(a.train.targets, b.train.targets) << spec;
    EXPECT_EQ(dense_values(a.test), dense_values(b.test)) << spec;
    EXPECT_TRUE(a.train.dense != other.train.dense || a.train.values != other.train.values) << spec;
    EXPECT_NE(dense_row(a.train, 0), dense_row(a.test, 0)) << spec;
  }
}

TEST(synthetic, more_samples_begin_with_the_same_ones) {
  for (const char* rest : {"digits:test=1,samples=", "logistic:test=1,features=30,density=0.2,samples=",
                           "words:test=1,features=30,samples=", "quadratic:samples="}) {
    const auto few = load_data(std::string{rest} + "5", 3).train, many = load_data(std::string{rest} + "9", 3).train;
    for (std::size_t i = 0; i < few.samples; ++i) {
      EXPECT_EQ(dense_row(few, i), dense_row(many, i)) << rest;
      EXPECT_EQ(few.targets[i], many.targets[i]) << rest;
    }
  }
}

TEST(synthetic, refuses_sizes_that_no_memory_holds) {
  EXPECT_THAT(load_error(errc::usage, "digits:samples=100000000"), HasSubstr("too many"));
  EXPECT_THAT(load_error(errc::usage, "logistic:samples=100000000,features=100000000"), HasSubstr("too many"));
  EXPECT_THAT(load_error(errc::usage, "words:samples=100000000,words=1000000"), HasSubstr("too many"));
  EXPECT_THAT(load_error(errc::usage, "quadratic:samples=100000000,dim=100000000"), HasSubstr("too many"));
  EXPECT_THAT(load_error(errc::usage, "digits:samples=0"), HasSubstr("out of range"));
}

TEST(digits, are_balanced_pictures) {
  for (std::size_t samples : {1u, 9u, 10u, 1000u}) {
    const auto data = load_data("digits:test=10,samples=" + std::to_string(samples), 1).train;
    EXPECT_EQ(data.features, 784u);
    EXPECT_THAT(class_counts(data), Each(AllOf(Ge(samples / 10), Le((samples + 9) / 10))));
    const auto [darkest, brightest] = std::ranges::minmax(dense_values(data));
    EXPECT_GE(darkest, 0);
    EXPECT_LE(brightest, 1);
  }
}

TEST(digits, show_ink_on_an_empty_margin) {
  const auto data = load_data("digits:test=1,samples=200,noise=0", 1).train;
  for (std::size_t i = 0; i < data.samples; ++i) {
    const auto picture = dense_row(data, i);
    double ink = 0;
    for (const float pixel : picture)
      ink += pixel;
    EXPECT_GT(ink, 15) << i; // the ink of the shortest stroke with the thinnest pen
    EXPECT_LT(ink, 250) << i;
    EXPECT_EQ(picture.front() + picture.back(), 0) << i;
  }
}

TEST(digits, of_one_class_are_nearer_to_each_other_than_to_others) {
  const auto data = load_data("digits:test=1,samples=2000", 1).train;
  std::vector<std::vector<float>> means(10, std::vector<float>(784));
  for (std::size_t i = 0; i < data.samples; ++i)
    add_scaled(means[data.label(i)], 10.0f / 2000, dense_row(data, i));
  int right = 0;
  for (std::size_t i = 0; i < data.samples; ++i) {
    std::vector<double> distances;
    for (const auto& mean : means)
      distances.push_back(squared_distance(mean, dense_row(data, i)));
    right += std::ranges::min_element(distances) - distances.begin() == std::ptrdiff_t(data.label(i)) ? 1 : 0;
  }
  EXPECT_GT(right, 2000 * 0.5);
  EXPECT_LT(right, 2000 * 0.9); // a simple model does not learn it all
}

TEST(digits, without_distortion_and_noise_differ_in_style_and_pen_alone) {
  const auto data = load_data("digits:test=1,samples=400,distortion=0,noise=0", 1).train;
  for (std::size_t i = 1; i < data.samples; i += 10) // ones: all styles have a bar in the middle
    EXPECT_GT(dense_row(data, i)[14 * 28 + 14], 0.5f);
}

TEST(logistic, has_rows_with_the_promised_covariance) {
  for (const char* density : {"1", "0.25", "0.001"}) {
    const auto data = load_data(std::string{"logistic:test=1,samples=4000,features=20,density="} + density, 1).train;
    EXPECT_EQ(data.sparse(), *density == '0');
    const double stored = data.sparse() ? double(data.columns.size()) / double(data.samples) : 20;
    EXPECT_EQ(stored, std::max(1.0, std::round(20 * std::stod(density))));
    double sum = 0, squares = 0;
    for (std::size_t i = 0; i < data.samples; ++i)
      for (const float x : dense_row(data, i)) {
        sum += x;
        squares += double{x} * x;
      }
    // An entry is N(0, 20 / stored) with probability stored / 20: variance 1, fourth moment 3 * 20 / stored.
    const double count = 20.0 * double(data.samples);
    EXPECT_NEAR(sum / count, 0, 4.5 * std::sqrt(1 / count));
    EXPECT_NEAR(squares / count, 1, 4.5 * std::sqrt((60 / stored - 1) / count));
  }
}

TEST(logistic, can_be_separated_by_a_plane_without_noise) {
  // The perceptron ends after (radius / margin)^2 mistakes if there is such a plane, and never otherwise.
  const auto data = load_data("logistic:samples=50,features=5,noise=0", 1).train;
  std::vector<float> w(5);
  bool wrong = true;
  for (int epoch = 0; wrong && epoch < 100'000; ++epoch) {
    wrong = false;
    for (std::size_t i = 0; i < data.samples; ++i) {
      const float sign = data.label(i) == 1 ? 1.0f : -1.0f;
      float margin = 0;
      for (std::size_t j = 0; j < 5; ++j)
        margin += w[j] * dense_row(data, i)[j];
      if (sign * margin <= 0) {
        wrong = true;
        add_scaled(w, sign, dense_row(data, i));
      }
    }
  }
  EXPECT_FALSE(wrong);
}

TEST(logistic, has_balanced_classes) {
  const auto counts = class_counts(load_data("logistic:test=1,features=5,samples=10000", 1).train);
  EXPECT_NEAR(double(counts[0]), 5000, 4.5 * std::sqrt(2500));
}

TEST(words, make_rows_of_length_1) {
  const auto data = load_data("words:test=1,samples=200,features=1000,words=20", 1).train;
  for (std::size_t i = 0; i < data.samples; ++i) {
    double squares = 0;
    for (auto k = data.row_start[i]; k < data.row_start[i + 1]; ++k)
      squares += double{data.values[k]} * data.values[k];
    EXPECT_NEAR(squares, 1, 1e-6);
  }
}

TEST(words, are_as_frequent_and_as_telling_as_promised) {
  // One word a row: its column is all there is, and it repeats never.
  const auto data = load_data("words:test=1,samples=20000,features=8,words=1,polarity=0.3", 1).train;
  std::vector<double> pairs(4), told(4);
  for (std::size_t i = 0; i < data.samples; ++i) {
    const auto column = data.columns[data.row_start[i]];
    ++pairs[column / 2];
    told[column / 2] += column % 2 == data.label(i) ? 1 : 0;
  }
  const double all = 1 + 1 / 2.0 + 1 / 3.0 + 1 / 4.0;
  for (std::size_t r = 0; r < 4; ++r) {
    const double p = 1 / (static_cast<double>(r) + 1) / all;
    EXPECT_NEAR(pairs[r] / 20'000, p, 4.5 * std::sqrt(p * (1 - p) / 20'000)) << r;
    EXPECT_NEAR(told[r] / pairs[r], 0.65, 4.5 * std::sqrt(0.65 * 0.35 / pairs[r])) << r;
  }
}

TEST(words, say_all_or_nothing_at_the_ends) {
  const auto agreeing = [](const char* polarity) {
    const auto data =
        load_data(std::string{"words:test=1,samples=4000,features=8,words=1,polarity="} + polarity, 1).train;
    double agree = 0;
    for (std::size_t i = 0; i < data.samples; ++i)
      agree += data.columns[data.row_start[i]] % 2 == data.label(i) ? 1 : 0;
    return agree / 4000;
  };
  EXPECT_EQ(agreeing("1"), 1);
  EXPECT_NEAR(agreeing("0"), 0.5, 4.5 * std::sqrt(0.25 / 4000));
}

TEST(quadratic, scatters_around_one_centre) {
  const auto exact = load_data("quadratic:samples=5,dim=7,noise=0", 4);
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(dense_row(exact.train, i), dense_row(exact.train, 0));
    EXPECT_EQ(dense_row(exact.test, i), dense_row(exact.train, 0));
  }
  const auto noisy = load_data("quadratic:samples=10000,dim=7,noise=0.5", 4);
  EXPECT_EQ(noisy.train.classes, 0u);
  for (const auto* part : {&noisy.train, &noisy.test}) {
    double squares = 0;
    for (std::size_t i = 0; i < part->samples; ++i)
      squares += squared_distance(dense_row(*part, i), dense_row(exact.train, 0));
    EXPECT_NEAR(squares / 70'000, 0.25, 4.5 * 0.25 * std::sqrt(2.0 / 70'000));
  }
}

} // namespace
} // namespace gossamer::compute
