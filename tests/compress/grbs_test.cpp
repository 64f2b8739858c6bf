#include "gossamer/compress/codec.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

namespace gossamer::compress {
namespace {

using testing::HasSubstr;

const random_stream randomness{5, 2, purpose::shared_1};

using ranges = std::vector<std::pair<std::size_t, std::size_t>>;

ranges kept(const codec& c, std::size_t size, std::uint64_t step, const random_stream& random = randomness) {
  ranges result;
  for (const auto& r : c.select(size, random, step).ranges)
    result.emplace_back(r.begin, r.size);
  return result;
}

/// Returns how often each element is kept.
std::vector<int> coverage(const codec& c, std::size_t size, int draws) {
  std::vector<int> times(size);
  for (int step = 0; step < draws; ++step)
    for (const auto& [begin, count] : kept(c, size, static_cast<std::uint64_t>(step)))
      for (std::size_t i = begin; i < begin + count; ++i)
        ++times[i];
  return times;
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

std::string complaint(const std::string& name, std::span<const tensor_shape> tensors = {}) {
  try {
    std::ignore = make_codec(name, tensors);
  } catch (const error& e) {
    EXPECT_EQ(e.code(), errc::usage);
    return e.sentence();
  }
  return "accepted";
}

// T9: all workers draw the same blocks.
TEST(grbs, draws_alike_on_all_workers_and_anew_each_round) {
  for (const char* name : {"grbs", "grbs:layout=tensor,layer-ratio=2"}) {
    const std::vector<tensor_shape> tensors{{50, 10}, {1, 500}};
    const auto codec = make_codec(name, tensors);
    EXPECT_EQ(kept(*codec, 1000, 5, {1, 0, purpose::shared_1}), kept(*codec, 1000, 5, {1, 7, purpose::shared_1}));
    EXPECT_NE(kept(*codec, 1000, 5), kept(*codec, 1000, 6));
    EXPECT_NE(kept(*codec, 1000, 5, {1, 0, purpose::shared_1}), kept(*codec, 1000, 5, {1, 0, purpose::shared_2}));
  }
}

// T9: every element has the same probability.
TEST(grbs, keeps_each_element_equally_often) {
  constexpr int draws = 6000;
  const std::vector<tensor_shape> tensors{{6, 5}, {1, 7}};
  for (const auto& [name, first, second] :
       {std::tuple{"grbs:ratio=4", 9.0 / 37, 9.0 / 37}, std::tuple{"grbs:ratio=4,blocks=8", 0.25, 0.25},
        std::tuple{"grbs:ratio=2,layout=tensor", 3.0 / 6, 4.0 / 7},
        std::tuple{"grbs:ratio=4,layout=tensor,column-ratio=2", 9.0 / 30, 4.0 / 7},
        std::tuple{"grbs:ratio=8,layout=tensor,layer-ratio=4", 0.125, 1.0 / 7}}) {
    const auto times = coverage(*make_codec(name, tensors), 37, draws);
    for (std::size_t i = 0; i < times.size(); ++i) {
      const double p = i < 30 ? first : second;
      EXPECT_NEAR(times[i], draws * p, 4.5 * std::sqrt(draws * p * (1 - p))) << name << " element " << i;
    }
  }
}

TEST(grbs, keeps_whole_blocks) {
  const auto codec = make_codec("grbs:ratio=3,blocks=7"); // edges 0, 14, 28, 42, 57, 71, 85, 100; keeps 2
  std::map<ranges, int> seen;
  for (std::uint64_t step = 0; step < 500; ++step)
    ++seen[kept(*codec, 100, step)];
  EXPECT_EQ(seen.size(), 21u);
  EXPECT_TRUE(seen.contains({{14, 14}, {42, 15}}));
  EXPECT_TRUE(seen.contains({{71, 29}})) << "neighbours are one range";
}

TEST(grbs, has_as_many_blocks_as_there_are_elements_at_most) {
  buffer_pool pool;
  for (std::size_t size : {0u, 1u, 2u, 15u, 16u, 17u, 1000u, 5000u}) {
    const auto codec = make_codec("grbs:ratio=16");
    const vec v{pool, std::vector<float>(size, 1.0f)};
    const auto p = codec->encode(v, randomness, 0);
    const auto blocks = std::min<std::size_t>(size, 1024);
    const auto most = std::max<std::size_t>(size > 0 ? 1 : 0, (blocks + 8) / 16);
    EXPECT_EQ(p.bits / 32, kept(*codec, size, 0).empty() ? 0 : codec->select(size, randomness, 0).size());
    if (size <= 1024) {
      EXPECT_EQ(p.bits, 32 * most);
    }
    EXPECT_LE(p.bits, codec->bits(size));
  }
  EXPECT_EQ(make_codec("grbs:ratio=1")->bits(1000), 32'000u);
}

TEST(grbs, keeps_bands_of_matrices) {
  const std::vector<tensor_shape> tensors{{4, 6}};
  const auto codec = make_codec("grbs:ratio=4,layout=tensor,column-ratio=2", tensors); // 2 rows x 3 columns
  EXPECT_EQ(codec->bits(24), 32u * 6);
  std::map<ranges, int> seen;
  for (std::uint64_t step = 0; step < 500; ++step)
    ++seen[kept(*codec, 24, step)];
  EXPECT_EQ(seen.size(), 24u);
  EXPECT_TRUE(seen.contains({{7, 3}, {13, 3}})) << "rows 1 and 2, columns 1 to 3";
  EXPECT_TRUE(seen.contains({{0, 2}, {5, 1}, {18, 2}, {23, 1}})) << "rows 3 and 0, columns 5, 0 and 1";
}

TEST(grbs, keeps_a_tensor_or_drops_it) {
  const std::vector<tensor_shape> tensors{{3, 3}, {0, 4}, {1, 5}};
  const auto codec = make_codec("grbs:ratio=2,layout=tensor,layer-ratio=2", tensors);
  std::map<ranges, int> seen;
  for (std::uint64_t step = 0; step < 200; ++step)
    ++seen[kept(*codec, 14, step)];
  EXPECT_EQ(seen.size(), 4u);
  for (const ranges& set : {ranges{}, ranges{{0, 9}}, ranges{{9, 5}}, ranges{{0, 14}}})
    EXPECT_TRUE(seen.contains(set));
  EXPECT_EQ(codec->relative_error(14), 0.5);
}

TEST(grbs, does_not_look_at_what_it_drops) {
  buffer_pool pool;
  const auto codec = make_codec("grbs:ratio=2,blocks=2");
  vec v{pool, std::vector<float>(20'000, 1.0f)};
  const auto first = kept(*codec, v.size(), 0).front().first;
  v.mutate()[first == 0 ? 19'999 : 0] = std::nanf("");
  EXPECT_EQ(max_magnitude(decode(codec->encode(v, randomness, 0)).view()), 1.0f);
  for (std::size_t at : {first, first + 4095, first + 4096, first + 9999}) {
    vec bad{pool, std::vector<float>(20'000, 1.0f)};
    bad.mutate()[at] = std::nanf("");
    EXPECT_THROW(std::ignore = codec->encode(bad, randomness, 0), error) << at;
  }
}

TEST(grbs, says_which_parameters_exclude_each_other) {
  EXPECT_EQ(complaint("grbs:ratio=16,blocks=16"), "accepted");
  EXPECT_EQ(complaint("grbs:ratio=16,blocks=15"), "codec 'grbs' has 15 blocks, fewer than its ratio 16");
  EXPECT_THAT(complaint("grbs:column-ratio=2"), HasSubstr("column-ratio or layer-ratio with layout=flat"));
  EXPECT_THAT(complaint("grbs:layout=tensor,blocks=64"), HasSubstr("blocks with layout=tensor"));
  EXPECT_THAT(complaint("grbs:layout=tensor,ratio=7,column-ratio=4,layer-ratio=2"),
              HasSubstr("ratio 7, less than column-ratio * layer-ratio"));
  EXPECT_THAT(complaint("grbs:layout=tensor", std::vector<tensor_shape>(251)), HasSubstr("251 tensors"));
  EXPECT_THAT(complaint("grbs:ratio=0.5"), HasSubstr("out of range"));
}

TEST(grbs, refuses_recipes_of_blocks_that_cannot_be) {
  buffer_pool pool;
  const auto good = make_codec("grbs:ratio=4,blocks=8")->encode(vec{pool, std::vector<float>(80, 1.0f)}, randomness, 0);
  const auto with = [&](std::size_t word, std::uint64_t value) {
    auto p = good;
    p.recipe[word] = value;
    return refusal(p);
  };
  EXPECT_EQ(refusal(good), "accepted");
  EXPECT_THAT(with(2, 81), HasSubstr("keeps 2 of 81 blocks of 80 elements"));
  EXPECT_THAT(with(2, 1), HasSubstr("keeps 2 of 1 blocks"));
  EXPECT_THAT(with(2, 0), HasSubstr("keeps 2 of 0 blocks"));
  EXPECT_THAT(with(3, 0), HasSubstr("keeps 0 of 8 blocks"));
  EXPECT_THAT(with(3, 3), HasSubstr("has 640 bits, not those of 3 blocks"));
  EXPECT_THAT(with(2, 10), HasSubstr("has 640 bits, not those of 2 blocks"));
  auto p = good;
  p.recipe.pop_back();
  EXPECT_THAT(refusal(p), HasSubstr("recipe of 3 words"));
  p = good;
  p.parameter = 2;
  EXPECT_THAT(refusal(p), HasSubstr("unknown layout 2"));
  p = good;
  p.elements = 0;
  EXPECT_THAT(refusal(p), HasSubstr("8 blocks of 0 elements"));
}

TEST(grbs, refuses_recipes_of_tensors_that_cannot_be) {
  buffer_pool pool;
  const std::vector<tensor_shape> tensors{{4, 6}, {1, 8}};
  const auto good =
      make_codec("grbs:ratio=2,layout=tensor", tensors)->encode(vec{pool, std::vector<float>(32, 1.0f)}, randomness, 0);
  const auto with = [&](std::size_t word, std::uint64_t value) {
    auto p = good;
    p.recipe[word] = value;
    return refusal(p);
  };
  EXPECT_EQ(refusal(good), "accepted");
  for (double ratio : {0.5, -1.0, std::nan(""), std::numeric_limits<double>::infinity()})
    for (std::size_t word : {2u, 3u, 4u})
      EXPECT_THAT(with(word, std::bit_cast<std::uint64_t>(ratio)), HasSubstr("finite and at least 1"));
  EXPECT_THAT(with(5, 0), HasSubstr("a tensor of 0 x 0 where 32 are left"));
  EXPECT_THAT(with(5, 5 | std::uint64_t{6} << 32), HasSubstr("a tensor of 1 x 8 where 2 are left"));
  EXPECT_THAT(with(5, ~std::uint64_t{0}), HasSubstr("where 32 are left"));
  EXPECT_THAT(with(6, 1 | std::uint64_t{7} << 32), HasSubstr("1 elements in no tensor"));
  EXPECT_THAT(with(2, std::bit_cast<std::uint64_t>(4.0)), HasSubstr("where the codec writes"));
  auto p = good;
  p.recipe.resize(4);
  EXPECT_THAT(refusal(p), HasSubstr("recipe of 4 words"));
}

} // namespace
} // namespace gossamer::compress
