#include "gossamer/base/error.hpp"
#include "gossamer/compress/codec.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace gossamer::compress {
namespace {

class bfloat16_test : public testing::Test {
protected:
  vec coded(std::vector<float> values, std::uint64_t step) {
    const vec v{pool_, values};
    const auto p = codec_->encode(v, random_stream{1, 0, purpose::quantise}, step);
    EXPECT_EQ(p.bits, codec_->bits(v.size()));
    EXPECT_EQ(p.payload.size(), whole_bytes(p.bits));
    return entry_.decode(read(pool_, write(p).bytes()));
  }

  const codec_entry& entry_ = codecs().find("bfloat16");
  std::unique_ptr<codec> codec_ = entry_.make(arguments{"codec", entry_.about, spec::parse("bfloat16")}, {});
  buffer_pool pool_;
};

TEST_F(bfloat16_test, keeps_what_has_few_bits) {
  EXPECT_EQ(coded({}, 0).size(), 0u);
  EXPECT_THAT(coded({0, 1, -0.5f, 3, 0x1p-120f}, 0).view(), testing::ElementsAre(0, 1, -0.5f, 3, 0x1p-120f));
}

TEST_F(bfloat16_test, never_leaves_the_finite_numbers) {
  constexpr auto largest = std::numeric_limits<float>::max();
  for (std::uint64_t step = 0; step < 20; ++step)
    for (const auto both = coded({largest, -largest}, step); const float x : both.view())
      EXPECT_TRUE(std::isfinite(x));
}

TEST_F(bfloat16_test, refuses_what_no_encoder_writes) {
  const auto refusal = [&](std::uint8_t parameter, std::uint16_t code) -> std::string {
    auto p = codec_->encode(vec{pool_, std::vector<float>{1, 2}}, random_stream{1, 0, purpose::quantise}, 0);
    p.parameter = parameter;
    std::memcpy(p.payload.data() + sizeof code, &code, sizeof code);
    try {
      entry_.decode(p);
      return "accepted";
    } catch (const error& e) {
      EXPECT_EQ(e.code(), errc::bad_packet);
      return e.sentence();
    }
  };
  EXPECT_EQ(refusal(0, 0x7F7F), "accepted");
  EXPECT_THAT(refusal(7, 0x3F80), testing::HasSubstr("has the parameter 7 instead of 0"));
  for (const int code : {0x7F80, 0x7FC0, 0xFF80})
    EXPECT_THAT(refusal(0, static_cast<std::uint16_t>(code)), testing::HasSubstr("not finite")) << code;
}

TEST_F(bfloat16_test, is_right_on_average) {
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
} // namespace gossamer::compress
