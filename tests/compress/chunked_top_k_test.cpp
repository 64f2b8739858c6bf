#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <numeric>

#include "support/codecs.hpp"

namespace gossamer::compress {
namespace {

using numbers = std::vector<float>;

const random_stream randomness{7, 0, purpose::quantise};

numbers through(const std::string& codec, const numbers& values) {
  buffer_pool pool;
  const auto p = make_codec(codec)->encode(vec{pool, values}, randomness, 0);
  EXPECT_EQ(p.bits, make_codec(codec)->bits(values.size()));
  const auto decoded = decode(p);
  return {decoded.view().begin(), decoded.view().end()};
}

/// The places of the k largest magnitudes, by sorting.
std::vector<std::size_t> places_of_largest(std::span<const float> chunk, std::size_t k) {
  std::vector<std::size_t> order(chunk.size());
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::stable_sort(order, std::greater{}, [&](auto i) { return std::fabs(chunk[i]); });
  order.resize(std::min(k, order.size()));
  return order;
}

/// What two magnitudes lose of these at least: each split tried.
double least_loss(const numbers& magnitudes_in_order) {
  const auto loss = [](std::span<const float> part) {
    double mean = 0, lost = 0;
    for (const float x : part)
      mean += static_cast<double>(x) / static_cast<double>(part.size());
    for (const float x : part)
      lost += (static_cast<double>(x) - mean) * (static_cast<double>(x) - mean);
    return lost;
  };
  const std::span all{magnitudes_in_order};
  double least = loss(all);
  for (std::size_t n = 1; n < all.size(); ++n)
    least = std::min(least, loss(all.first(n)) + loss(all.subspan(n)));
  return least;
}

TEST(chunked_top_k, keeps_floats_of_each_chunk_that_sorting_would_keep) {
  buffer_pool pool;
  for (const std::size_t size : {1u, 99u, 100u, 101u, 730u, 5000u})
    for (const std::size_t chunk : {1u, 100u, 2048u})
      for (const std::size_t k : {1u, 7u, 100u}) {
        const vec v = test::random_vector(pool, size);
        numbers expected(size);
        for (std::size_t first = 0; first < size; first += chunk) {
          const auto part = v.view().subspan(first, std::min(chunk, size - first));
          for (const auto i : places_of_largest(part, k))
            expected[first + i] = part[i];
        }
        EXPECT_EQ(through("chunked-top-k:values=float,chunk=" + std::to_string(chunk) + ",k=" + std::to_string(k),
                          {v.view().begin(), v.view().end()}),
                  expected)
            << size << " in chunks of " << chunk;
      }
}

TEST(chunked_top_k, sends_signs_and_the_two_magnitudes_that_lose_least) {
  buffer_pool pool;
  constexpr std::size_t chunk = 200;
  for (const std::size_t k : {1u, 2u, 3u, 20u, 200u}) {
    const vec v = test::random_vector(pool, 3 * chunk);
    const auto sent = through("chunked-top-k:chunk=200,k=" + std::to_string(k), {v.view().begin(), v.view().end()});
    for (std::size_t first = 0; first < v.size(); first += chunk) {
      numbers magnitudes;
      double lost = 0;
      for (const auto i : places_of_largest(v.view().subspan(first, chunk), k)) {
        const float x = v[first + i], y = sent[first + i];
        EXPECT_EQ(std::signbit(x), std::signbit(y));
        magnitudes.push_back(std::fabs(x));
        lost += static_cast<double>((x - y) * (x - y));
      }
      EXPECT_NEAR(lost, least_loss(magnitudes), 1e-5) << k;
      numbers levels(sent.begin() + static_cast<std::ptrdiff_t>(first),
                     sent.begin() + static_cast<std::ptrdiff_t>(first + chunk));
      std::ranges::transform(levels, levels.begin(), [](float x) { return std::fabs(x); });
      std::ranges::sort(levels);
      levels.erase(std::unique(levels.begin(), levels.end()), levels.end());
      EXPECT_LE(levels.size(), 2 + (k < chunk ? 1u : 0u)) << "two magnitudes, and 0 where nothing is sent";
    }
  }
}

TEST(chunked_top_k, keeps_two_magnitudes_as_they_are) {
  const numbers v{3, 0, -1, 0, 0, 0, -3, 1};
  EXPECT_EQ(through("chunked-top-k:chunk=8,k=4", v), v);
  EXPECT_EQ(through("chunked-top-k:chunk=4,k=2", v), v);
  EXPECT_EQ(through("chunked-top-k:chunk=4,k=1", v), (numbers{3, 0, 0, 0, 0, 0, -3, 0}));
}

TEST(chunked_top_k, averages_parts_of_six_deviations) {
  const numbers v{-12, -4, -2, 1, 1, 2, 2, 3, 4, 5};
  const double mean = std::accumulate(v.begin(), v.end(), 0.0) / 10;
  ASSERT_EQ(mean, 0);
  const double squares = std::inner_product(v.begin(), v.end(), v.begin(), 0.0);
  const double part = 1.5 * std::sqrt(squares / 9);
  numbers expected;
  for (const float x : v) {
    const auto code = [&](float y) { return std::clamp(std::nearbyint(static_cast<double>(y) / part + 2), 0.0, 3.0); };
    double sum = 0, count = 0;
    for (const float y : v)
      if (code(y) == code(x))
        sum += static_cast<double>(y), ++count;
    expected.push_back(static_cast<float>(sum / count));
  }
  EXPECT_EQ(through("chunked-top-k:chunk=10,k=10,values=statistical", v), expected);
  EXPECT_EQ(std::ranges::count(expected, -12.0f), 1) << "alone beyond 2.25 s";
  EXPECT_EQ(through("chunked-top-k:values=statistical,k=2", {1, -1}), (numbers{0, 0})) << "opposite signs cancel";
}

TEST(chunked_top_k, loses_little_of_normal_numbers_beside_the_released_code) {
  buffer_pool pool;
  vec v{pool, 1 << 16};
  random_sequence random{randomness, 0};
  for (float& x : v.overwrite())
    x = static_cast<float>(random.normal());
  const auto loss = [&](const char* values) {
    const numbers all{v.view().begin(), v.view().end()};
    const auto exact = through("chunked-top-k:values=float", all);
    const auto sent = through(std::string{"chunked-top-k:values="} + values, all);
    return squared_distance(exact, sent) / sum_of_squares(exact);
  };
  EXPECT_NEAR(loss("symmetric"), 0.004, 0.001);
  EXPECT_NEAR(loss("statistical"), 0.012, 0.002);
}

TEST(chunked_top_k, says_its_bits) {
  EXPECT_EQ(make_codec("chunked-top-k")->bits(4096 * 5), 5 * (64 + 64 * (2 + 12)));
  EXPECT_EQ(make_codec("chunked-top-k:values=statistical")->bits(4096), 128 + 64 * (2 + 12));
  EXPECT_EQ(make_codec("chunked-top-k:values=float")->bits(4096), 64 * (32 + 12));
  EXPECT_EQ(make_codec("chunked-top-k")->bits(4096 + 100), 64 + 64 * 14 + 64 + 2 * (2 + 7)) << "a chunk of 100";
  EXPECT_EQ(make_codec("chunked-top-k:k=64")->bits(4096 + 10), 64 + 64 * 14 + 64 + 10 * (2 + 4));
  EXPECT_EQ(make_codec("chunked-top-k")->bits(0), 0u);
  EXPECT_THROW(std::ignore = make_codec("chunked-top-k:chunk=0"), error);
  EXPECT_THROW(std::ignore = make_codec("chunked-top-k:chunk=70000"), error);
}

TEST(chunked_top_k, refuses_what_it_never_sends) {
  buffer_pool pool;
  const numbers values{4, 0, -1, 0.5f, 2, 0, 8, 1};
  const auto good = make_codec("chunked-top-k:chunk=4,k=2")->encode(vec{pool, values}, randomness, 0);
  ASSERT_EQ(good.bits, 2 * (64 + 2 * (2 + 2)));
  const auto refused = [&](auto alter) {
    auto bad = good;
    bad.payload = pool.allocate(good.payload.size());
    std::ranges::copy(good.payload.bytes(), bad.payload.data());
    alter(bad);
    EXPECT_THROW(static_cast<void>(decode(bad)), error);
  };
  refused([](packet& p) { p.payload.data()[3] |= std::byte{0x80}; }); // a negative magnitude
  refused([](packet& p) { p.payload.data()[7] = std::byte{0x7F}; });  // an infinite one
  refused([](packet& p) { p.payload.data()[8] = std::byte{0}; });     // place 0 twice
  refused([](packet& p) { p.recipe[0] = 0; });                        // chunks of nothing
  refused([](packet& p) { p.recipe[0] = std::uint64_t{1} << 40; });   // and of too much
  refused([](packet& p) { p.recipe[1] = 5; });                        // 5 of 4
  refused([](packet& p) { p.elements = 9; });                         // none of the last
  refused([](packet& p) { p.elements = std::uint64_t{1} << 32; });    // far too many
  refused([](packet& p) { p.parameter = 3; });                        // no such code
  refused([](packet& p) { p.recipe.pop_back(); });
}

} // namespace
} // namespace gossamer::compress
