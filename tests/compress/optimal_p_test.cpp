#include "gossamer/compress/codec.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <tuple>

namespace gossamer::compress {
namespace {

using testing::HasSubstr;

const random_stream randomness{5, 2, purpose::sparse};

vec normal_vector(buffer_pool& pool, std::size_t size) {
  vec v{pool, size};
  random_sequence random{{9, 0, purpose::synthetic}, size};
  for (float& x : v.overwrite())
    x = static_cast<float>(random.normal());
  return v;
}

std::string spec_of(double budget, int bits = 0) {
  return "optimal-p:budget=" + std::to_string(budget) + ",bits=" + std::to_string(bits);
}

/// Returns min(1, c |v_i|), where bisection of c makes the sum min(phi, number of nonzero v_i).
std::vector<double> probabilities(const vec& v, double phi) {
  std::vector<double> p(v.size());
  const auto sum = [&](double c) {
    double total = 0;
    for (std::size_t i = 0; i < p.size(); ++i)
      total += p[i] = std::min(1.0, c * std::fabs(static_cast<double>(v[i])));
    return total;
  };
  double low = 0, high = 1e12;
  for (int round = 0; round < 300; ++round) {
    const double middle = (low + high) / 2;
    (sum(middle) < phi ? low : high) = middle;
  }
  sum(high);
  return p;
}

std::string refusal(const packet& p) {
  try {
    std::ignore = decode(p);
  } catch (const error& e) {
    EXPECT_EQ(e.code(), errc::bad_packet);
    return e.sentence();
  }
  return "accepted";
}

// T8: the value of a kept element is v_i / p_i, so the test can read p_i from it.
TEST(optimal_p, spends_its_budget_by_water_filling) {
  buffer_pool pool;
  vec v = normal_vector(pool, 60);
  v.mutate()[7] = v.mutate()[8] = 0;
  v.mutate()[9] = 40;
  for (double budget : {0.5, 1.0, 5.0, 20.0, 45.5, 57.0, 58.0, 60.0, 1000.0}) {
    const auto p = probabilities(v, budget);
    const auto codec = make_codec(spec_of(budget));
    std::vector<int> times(v.size());
    constexpr int draws = 3000;
    for (std::uint64_t step = 0; step < draws; ++step) {
      const auto decoded = decode(codec->encode(v, randomness, step));
      for (std::size_t i = 0; i < v.size(); ++i)
        if (decoded[i] != 0) {
          ++times[i];
          ASSERT_NEAR(v[i] / decoded[i], p[i], 1e-5) << "element " << i << " of budget " << budget;
        }
    }
    for (std::size_t i = 0; i < v.size(); ++i)
      EXPECT_NEAR(times[i], draws * p[i], 4.5 * std::sqrt(draws * p[i] * (1 - p[i])) + 1) << i << " of " << budget;
  }
}

// T8: E |beta|^2 = sum v_i^2 / p_i is that of Lagrange's solution, the least of all with this budget.
TEST(optimal_p, has_less_variance_than_other_probabilities) {
  buffer_pool pool;
  const vec v = normal_vector(pool, 200);
  constexpr double budget = 30;
  const auto codec = make_codec(spec_of(budget));
  double mean = 0;
  constexpr int draws = 2000;
  for (std::uint64_t step = 0; step < draws; ++step)
    mean += sum_of_squares(decode(codec->encode(v, randomness, step)).view()) / draws;
  const double norm = sum_of_magnitudes(v.view()), uniform = sum_of_squares(v.view()) * 200 / budget;
  EXPECT_NEAR(mean, norm * norm / budget, 0.03 * mean);
  EXPECT_LT(mean, 0.75 * uniform);
}

// T61: without a budget, every element that is sent has the largest magnitude.
TEST(optimal_p, sends_only_the_largest_magnitude_unless_it_has_a_budget) {
  buffer_pool pool;
  for (std::size_t size : {1u, 33u, 1000u}) {
    const vec v = normal_vector(pool, size);
    const float largest = max_magnitude(v.view());
    for (int bits : {0, 2, 5, 8, 16}) {
      const auto p = make_codec(spec_of(0, bits))->encode(v, randomness, 1);
      const auto decoded = decode(p);
      std::size_t kept = 0;
      for (std::size_t i = 0; i < size; ++i) {
        kept += decoded[i] != 0;
        const float expected = decoded[i] == 0 ? 0.0f : std::copysign(largest, v[i]);
        EXPECT_NEAR(decoded[i], expected, bits == 0 ? 0 : 1e-6f * largest);
      }
      const auto place = static_cast<std::size_t>(std::ceil(std::log2(size)));
      EXPECT_EQ(p.bits, bits == 0 ? kept * (32 + place) : 32 + kept * (static_cast<std::size_t>(bits) + place));
    }
  }
}

TEST(optimal_p, is_the_identity_when_the_budget_suffices) {
  buffer_pool pool;
  const vec v = normal_vector(pool, 1000);
  EXPECT_EQ(decode(make_codec("optimal-p:budget=1000")->encode(v, randomness, 0)), v);
  EXPECT_EQ(make_codec("optimal-p:budget=1000")->relative_error(1000), 0);
}

TEST(optimal_p, survives_the_ends_of_the_range) {
  buffer_pool pool;
  constexpr auto largest = std::numeric_limits<float>::max(), smallest = std::numeric_limits<float>::denorm_min();
  for (const auto& values : {std::vector<float>{largest, -largest, 1}, std::vector<float>{smallest, -smallest, 0},
                             std::vector<float>{largest, smallest}, std::vector<float>{}})
    for (double budget : {0.0, 0.01, 1.0, 1.5})
      for (int bits : {0, 2, 16})
        for (std::uint64_t step = 0; step < 50; ++step) {
          const auto p = make_codec(spec_of(budget, bits))->encode({pool, values}, randomness, step);
          ASSERT_TRUE(std::isfinite(max_magnitude(decode(p).view())));
        }
}

TEST(optimal_p, sends_32_bits_when_nothing_survives) {
  buffer_pool pool;
  EXPECT_EQ(make_codec(spec_of(0, 4))->encode(vec{pool, 100}, randomness, 0).bits, 32u);
  EXPECT_EQ(make_codec(spec_of(0, 0))->encode(vec{pool, 100}, randomness, 0).bits, 0u);
}

TEST(optimal_p, refuses_what_no_encoder_sends) {
  buffer_pool pool;
  const auto good = make_codec(spec_of(5, 4))->encode(normal_vector(pool, 100), randomness, 0);
  const auto with = [&](auto change) {
    auto p = good;
    p.payload = pool.allocate(good.payload.size());
    std::ranges::copy(good.payload.bytes(), p.payload.data());
    change(p);
    return refusal(p);
  };
  const auto scale = [](float delta) {
    return [=](packet& p) { std::memcpy(p.payload.data(), &delta, sizeof delta); };
  };
  EXPECT_EQ(with([](packet&) {}), "accepted");
  EXPECT_THAT(with([](packet& p) { p.parameter = 1; }), HasSubstr("codes of 1 bits; allowed: 0 and 2 to 16"));
  EXPECT_THAT(with([](packet& p) { p.parameter = 17; }), HasSubstr("codes of 17 bits"));
  EXPECT_THAT(with(scale(0)), HasSubstr("values and the scale 0"));
  EXPECT_THAT(with(scale(-1)), HasSubstr("0 or a positive normal number"));
  EXPECT_THAT(with(scale(std::numeric_limits<float>::max())), HasSubstr("beyond the largest float"));
  EXPECT_THAT(with([](packet& p) { p.bits -= 1; }), HasSubstr("where the codec writes"));
  EXPECT_THAT(with([](packet& p) { p.bits = 32, p.payload.truncate(4); }), HasSubstr("has 0 values and the scale"));
  EXPECT_THAT(with([](packet& p) { p.payload.truncate(3); }), HasSubstr("too few for its scale"));
  EXPECT_THAT(with([](packet& p) { p.recipe = {1}; }), HasSubstr("recipe of 1 words"));
  EXPECT_THAT(with([](packet& p) { p.elements = 1; }), HasSubstr("allowed:"));
  EXPECT_THROW(std::ignore = make_codec("optimal-p:bits=1"), error);
  EXPECT_THROW(std::ignore = make_codec("optimal-p:budget=-1"), error);
}

} // namespace
} // namespace gossamer::compress
