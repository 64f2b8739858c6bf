// The examples of docs/adding-a-codec.md and docs/adding-a-topology.md work.
#include "gossamer/compress/codec.hpp"
#include "gossamer/topology/graph.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

namespace gossamer {

// The example code of the docs would declare these in the detail/entries.hpp of their folder.
namespace compress::detail {
codec_entry bfloat16_codec();
}
namespace topology::detail {
topology_entry tree();
}

namespace {

topology::graph make_tree(std::string_view text, std::size_t size) {
  const auto entry = topology::detail::tree();
  return entry.make(arguments{"topology", entry.about, spec::parse(text)}, size, 1);
}

TEST(the_tree_of_the_docs, is_a_tree) {
  const auto g = make_tree("tree", 7);
  EXPECT_THAT(g.neighbours(1), testing::ElementsAre(0, 3, 4));
  EXPECT_EQ(g.diameter(), 4u);
  for (const std::size_t size : {1u, 2u, 31u, 32u, 33u})
    for (const auto* text : {"tree", "tree:children=1", "tree:children=40"}) {
      EXPECT_TRUE(make_tree(text, size).connected()) << text << " with " << size;
      EXPECT_EQ(make_tree(text, size).edges().size(), size - 1) << text << " with " << size;
    }
}

class the_bfloat16_of_the_docs : public testing::Test {
protected:
  vec coded(std::vector<float> values, std::uint64_t step) {
    const vec v{pool_, values};
    const auto p = codec_->encode(v, random_stream{1, 0, purpose::quantise}, step);
    EXPECT_EQ(p.bits, codec_->bits(v.size()));
    EXPECT_EQ(p.payload.size(), compress::whole_bytes(p.bits));
    return entry_.decode(compress::read(pool_, compress::write(p).bytes()));
  }

  compress::codec_entry entry_ = compress::detail::bfloat16_codec();
  std::unique_ptr<compress::codec> codec_ = entry_.make(arguments{"codec", entry_.about, spec::parse("bfloat16")}, {});
  buffer_pool pool_;
};

TEST_F(the_bfloat16_of_the_docs, keeps_what_has_few_bits) {
  EXPECT_EQ(coded({}, 0).size(), 0u);
  EXPECT_THAT(coded({0, 1, -0.5f, 3, 0x1p-120f}, 0).view(), testing::ElementsAre(0, 1, -0.5f, 3, 0x1p-120f));
}

TEST_F(the_bfloat16_of_the_docs, never_leaves_the_finite_numbers) {
  constexpr auto largest = std::numeric_limits<float>::max();
  for (std::uint64_t step = 0; step < 20; ++step)
    for (const float x : coded({largest, -largest}, step).view())
      EXPECT_TRUE(std::isfinite(x));
}

TEST_F(the_bfloat16_of_the_docs, is_right_on_average) {
  const float x = 1.0f + 0.3f / 128; // three tenths of the way to the next bfloat16
  constexpr int draws = 10'000;
  int above = 0;
  for (int step = 0; step < draws; ++step) {
    const float y = coded({x}, static_cast<std::uint64_t>(step))[0];
    ASSERT_TRUE(y == 1.0f || y == 1.0f + 1.0f / 128) << y;
    above += y > 1;
  }
  EXPECT_NEAR(above, 0.3 * draws, 4.5 * std::sqrt(draws * 0.3 * 0.7));
}

} // namespace
} // namespace gossamer
