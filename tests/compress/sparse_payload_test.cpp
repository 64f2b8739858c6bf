// random-p, random-k and the common format of all sparse codecs.
#include "gossamer/compress/codec.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <tuple>

namespace gossamer::compress {
namespace {

using testing::HasSubstr;

const random_stream randomness{5, 2, purpose::sparse};

vec ones(buffer_pool& pool, std::size_t size) { return {pool, std::vector<float>(size, 1.0f)}; }

/// Returns the elements of a vector of ones that survive.
std::vector<bool> mask(const codec& c, std::size_t size, std::uint64_t step, const random_stream& random = randomness) {
  buffer_pool pool;
  const auto v = decode(c.encode(ones(pool, size), random, step));
  std::vector<bool> result(size);
  for (std::size_t i = 0; i < size; ++i)
    result[i] = v[i] != 0;
  return result;
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

/// Returns the number of 24 bits that chooses an element.
float uniform(std::uint64_t step, std::uint64_t element) {
  std::uint32_t u = 0;
  for (std::uint64_t k = 0; k < 24; ++k)
    u = u << 1 | (randomness.word(step, (k << 57) + element / 32) >> element % 32 & 1);
  return static_cast<float>(u) * 0x1p-24f;
}

TEST(random_p, equals_its_definition) {
  buffer_pool pool;
  vec v = ones(pool, 15000);
  random_sequence random{{9, 0, purpose::synthetic}, 0};
  for (float& x : v.mutate())
    x = random.below(3) == 0 ? 0.0f : static_cast<float>(random.normal());
  for (const auto& [name, p, factor] :
       {std::tuple{"random-p", 0.1f, 10.0f}, std::tuple{"random-p:p=0.5", 0.5f, 2.0f},
        std::tuple{"random-p:p=0.25,scale=none", 0.25f, 1.0f}, std::tuple{"random-p:p=0.25,indices=seed", 0.25f, 4.0f},
        std::tuple{"random-p:p=1", 1.0f, 1.0f}}) {
    const auto packet = make_codec(name)->encode(v, randomness, 3);
    const auto decoded = decode(packet);
    std::size_t kept = 0, not_zero = 0;
    for (std::size_t i = 0; i < v.size(); ++i) {
      const bool keep = uniform(3, i) < p;
      kept += keep;
      not_zero += keep && v[i] != 0;
      // 1/p is that of the probability in 24 bits.
      EXPECT_NEAR(decoded[i], keep ? factor * v[i] : 0, 1e-5f * std::fabs(v[i])) << name << " element " << i;
    }
    EXPECT_EQ(packet.bits, packet.recipe.empty() ? not_zero * (32 + 14) : kept * 32) << name;
  }
}

TEST(random_p, keeps_its_share) {
  for (const auto& [name, p] : {std::pair{"random-p:p=0.5", 0.5}, std::pair{"random-p:p=0.01", 0.01}}) {
    const auto bits = mask(*make_codec(name), 1 << 20, 0);
    const auto expected = p * static_cast<double>(bits.size());
    EXPECT_NEAR(static_cast<double>(std::ranges::count(bits, true)), expected, 4.5 * std::sqrt(expected * (1 - p)));
  }
}

// All 10 sets of 2 out of 5 are equally likely, and so are the 10 sets of 3.
TEST(random_k, draws_all_sets_equally_often) {
  constexpr int draws = 20000;
  for (const char* name : {"random-k:k=2", "random-k:k=3", "random-k:k=2,indices=seed"}) {
    std::map<std::vector<bool>, int> seen;
    for (std::uint64_t step = 0; step < draws; ++step)
      ++seen[mask(*make_codec(name), 5, step)];
    EXPECT_EQ(seen.size(), 10u);
    for (const auto& [set, times] : seen)
      EXPECT_NEAR(times, draws / 10, 4.5 * std::sqrt(draws * 0.09)) << name;
  }
}

TEST(random_k, keeps_exactly_k) {
  for (std::size_t size : {1u, 2u, 31u, 32u, 33u, 63u, 64u, 65u, 1000u})
    for (std::size_t k : {1u, 2u, 30u, 32u, 33u, 64u, 500u, 501u, 999u, 1000u, 5000u}) {
      const auto codec = make_codec("random-k:k=" + std::to_string(k));
      EXPECT_EQ(static_cast<std::size_t>(std::ranges::count(mask(*codec, size, k), true)), std::min(size, k));
    }
}

TEST(random_k, sends_places_or_says_how_they_are_drawn) {
  buffer_pool pool;
  const vec v = ones(pool, 1000);
  const auto sent = make_codec("random-k:k=10")->encode(v, randomness, 4);
  const auto seed = make_codec("random-k:k=10,indices=seed")->encode(v, randomness, 4);
  EXPECT_EQ(sent.bits, 10u * (32 + 10));
  EXPECT_TRUE(sent.recipe.empty());
  EXPECT_EQ(seed.bits, 10u * 32);
  EXPECT_EQ(seed.recipe.size(), 2u);
  EXPECT_EQ(decode(sent), decode(seed));
  EXPECT_EQ(max_magnitude(decode(sent).view()), 100.0f);
}

TEST(sparsifiers, draw_alike_on_workers_that_share_the_stream) {
  for (const char* name : {"random-p:indices=seed", "random-k:indices=seed,fraction=0.1"}) {
    const auto codec = make_codec(name);
    const random_stream first{1, 0, purpose::shared_1}, second{1, 7, purpose::shared_1};
    EXPECT_EQ(mask(*codec, 1000, 5, first), mask(*codec, 1000, 5, second));
    EXPECT_NE(mask(*codec, 1000, 5, first), mask(*codec, 1000, 6, first));
    EXPECT_NE(mask(*codec, 1000, 5, first), mask(*codec, 1000, 5, {1, 0, purpose::shared_2}));
  }
}

TEST(sparsifiers, stay_within_the_floats) {
  buffer_pool pool;
  constexpr auto largest = std::numeric_limits<float>::max();
  const vec v{pool, std::vector<float>(40, -largest)};
  for (const char* name : {"random-p:p=0.3", "random-p:p=0.3,indices=seed", "random-k:k=5"})
    EXPECT_EQ(std::ranges::min(decode(make_codec(name)->encode(v, randomness, 0)).view()), -largest) << name;
}

TEST(sparsifiers, look_at_what_they_drop) {
  buffer_pool pool;
  vec v = ones(pool, 100);
  v.mutate()[41] = std::numeric_limits<float>::infinity();
  for (const char* name : {"random-p:p=0.0001,indices=seed", "random-k:k=1,indices=seed", "top-k:k=1"})
    EXPECT_THROW(std::ignore = make_codec(name)->encode(v, randomness, 0), error) << name;
}

TEST(sparsifiers, refuse_places_that_no_encoder_sends) {
  buffer_pool pool;
  const auto with = [&](auto change) {
    auto p = make_codec("random-k:k=3")->encode(ones(pool, 200), randomness, 0);
    const std::uint32_t places = 10 | 20 << 8 | 199 << 16; // one byte each
    std::memcpy(p.payload.data() + 12, &places, 3);
    change(p);
    return refusal(p);
  };
  const auto byte = [](std::size_t at, int value) {
    return [=](packet& p) { p.payload.data()[at] = static_cast<std::byte>(value); };
  };
  EXPECT_EQ(with([](packet&) {}), "accepted");
  EXPECT_THAT(with(byte(13, 10)), HasSubstr("the place 10 where 11 to 199 are possible"));
  EXPECT_THAT(with(byte(13, 9)), HasSubstr("the place 9 where 11 to 199 are possible"));
  EXPECT_THAT(with(byte(14, 200)), HasSubstr("the place 200 where 21 to 199 are possible"));
  EXPECT_THAT(with(byte(3, 0x7F)), HasSubstr("not finite"));
  EXPECT_THAT(with([](packet& p) { p.bits -= 1; }), HasSubstr("where the codec writes"));
  EXPECT_THAT(with([](packet& p) { p.elements = 2; }), HasSubstr("has 3 values and 2 elements"));
  EXPECT_THAT(with([](packet& p) { p.elements = ~std::uint64_t{0}; }), HasSubstr("elements; allowed"));
  EXPECT_THAT(with([](packet& p) { p.parameter = 2; }), HasSubstr("unknown parameter 2"));
  EXPECT_THAT(with([](packet& p) { p.recipe = {1}; }), HasSubstr("recipe of 1 words"));
  EXPECT_THAT(with([](packet& p) { p.payload.truncate(14); }), HasSubstr("payload of 14 bytes instead of 15"));
}

TEST(sparsifiers, refuse_recipes_that_do_not_suit_the_payload) {
  buffer_pool pool;
  for (const char* name : {"random-p:indices=seed", "random-k:indices=seed,k=3"}) {
    const auto good = make_codec(name)->encode(ones(pool, 200), randomness, 0);
    EXPECT_EQ(refusal(good), "accepted");
    auto p = good;
    p.recipe.pop_back();
    EXPECT_THAT(refusal(p), HasSubstr("recipe of"));
    p = good;
    p.bits -= 1;
    EXPECT_THAT(refusal(p), HasSubstr("where the codec writes"));
  }
  auto p = make_codec("random-p:indices=seed")->encode(ones(pool, 200), randomness, 0);
  for (std::uint64_t threshold : {std::uint64_t{0}, (std::uint64_t{1} << 24) + 1, ~std::uint64_t{0}}) {
    p.recipe[2] = threshold;
    EXPECT_THAT(refusal(p), HasSubstr("allowed: 1 to 16777216"));
  }
  p.recipe[2] = 1u << 24;
  EXPECT_THAT(refusal(p), HasSubstr("where the codec writes 6400"));
}

} // namespace
} // namespace gossamer::compress
