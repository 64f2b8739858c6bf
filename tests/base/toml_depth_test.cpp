#include "gossamer/base/toml_depth.hpp"

#include <gmock/gmock.h>

#include "support/usage_error.hpp"

namespace gossamer {
namespace {

using testing::HasSubstr;

std::string repeated(std::string_view text, std::size_t times) {
  std::string result;
  while (times-- > 0)
    result += text;
  return result;
}

std::string refusal(const std::string& text) {
  return usage_error([&] { expect_shallow_toml(text, "my.toml"); });
}

TEST(toml_depth, refuses_what_is_nested_deep) {
  for (const auto& deep :
       {"a" + repeated(".a", 50'000) + " = 1", "x = " + repeated("[", 40), "x = " + repeated("{a=", 40),
        "[" + repeated("a.", 40) + "b]", "x = { a" + repeated(" . a", 40) + " = 1 }"})
    EXPECT_THAT(refusal("y = 1\n" + deep), HasSubstr("my.toml:2: keys or brackets are nested deeper than 32"));
}

TEST(toml_depth, takes_what_is_shallow) {
  const auto many = repeated("[[fault]]\nkind = \"kill\"\nat = 1.5\nworkers = [0, 1]\nlink.loss.share = 0.5\n", 100);
  EXPECT_NO_THROW(expect_shallow_toml(many, ""));
  EXPECT_NO_THROW(expect_shallow_toml("x = [" + repeated("[1.5, 2.5], {a.b = 1.5},", 100) + "]", ""));
  EXPECT_NO_THROW(expect_shallow_toml("", ""));
}

TEST(toml_depth, counts_nothing_within_strings_and_comments) {
  const auto brackets = repeated("[{.", 50);
  for (const auto& text :
       {"x = \"" + brackets + "\"", "x = '" + brackets + "'", "# " + brackets, "x = \"\"\"\n" + brackets + "\n\"\"\"",
        "x = \'\'\'" + brackets + "\n\"\'\'\'", "x = \"\\\"" + brackets + "\"", "x = \"\"\"" + brackets + "\"\"\"\"\""})
    EXPECT_NO_THROW(expect_shallow_toml(text, "")) << text;
}

TEST(toml_depth, looks_behind_the_end_of_strings) {
  const auto deep = "a" + repeated(".a", 50) + " = 1";
  for (const std::string before : {"x = 'it\\'\n", "x = \"\\\\\"\n", "x = \"\"\"a\"\"\"\"\"\n", "x = \"\"\n",
                                   "x = \'\'\'a\'\'\'\'\n", "x = \"open\n"})
    EXPECT_THAT(refusal(before + deep), HasSubstr("my.toml:2: ")) << before;
  EXPECT_THAT(refusal("x = [\"\"\"a\"\"\"\", {" + deep + "}]"), HasSubstr("my.toml:1: "));
  EXPECT_THAT(refusal("x = \"\"\"\n\n\"\"\"\n" + deep), HasSubstr("my.toml:4: "));
}

} // namespace
} // namespace gossamer
