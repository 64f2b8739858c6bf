// The bytes on the wire, which are a promise, compared with golden files.
#include "gossamer/compress/codec.hpp"

#include <algorithm>

#include "support/golden.hpp"

namespace gossamer::compress {
namespace {

const random_stream randomness{2026, 1, purpose::quantise};

/// Returns the vector of every golden file: a ramp with a zero, of a size that fills no register.
vec ramp(buffer_pool& pool) {
  vec v{pool, 37};
  const auto values = v.overwrite();
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = 0.125f * (static_cast<float>(i) - 12.0f);
  return v;
}

TEST(wire_format, has_not_changed) {
  buffer_pool pool;
  std::vector<std::string> names;
  for (const auto& entry : codecs())
    names.insert(names.end(), entry.examples.begin(), entry.examples.end());
  for (const auto& name : names) {
    auto file = name;
    std::ranges::replace_if(
        file, [](char c) { return c == ':' || c == '=' || c == ','; }, '-');
    const auto bytes = write(make_codec(name)->encode(ramp(pool), randomness, 7));
    test::expect_golden("compress/" + file + ".hex", bytes.bytes());
  }
  test::expect_golden("compress/uniform-zero.hex",
                      write(make_codec("uniform")->encode(vec{pool, 37}, randomness, 7)).bytes());
}

/// Returns the text of the fenced block that follows `heading` in docs/wire-format.md.
std::string block_after(const std::string& heading) {
  const auto text = test::read_text(std::filesystem::path{GOSSAMER_SOURCE_DIR} / "docs/wire-format.md");
  const auto begin = text.find("```\n", text.find(heading)) + 4;
  return text.substr(begin, text.find("```", begin) - begin);
}

TEST(wire_format, is_the_one_of_the_documentation) {
  buffer_pool pool;
  const vec v{pool, std::vector<float>{1.0f, -0.5f, 0.25f, 0.0f, -1.0f}};
  const auto bytes = write(make_codec("uniform:bits=3")->encode(v, {1, 0, purpose::quantise}, 0));
  EXPECT_EQ(block_after("## A worked example"), test::to_hex(bytes.bytes()));
  const auto p = read(pool, test::from_hex(block_after("## A worked example")));
  EXPECT_EQ(p.elements, 5u);
}

} // namespace
} // namespace gossamer::compress
