#include "gossamer/base/settings_text.hpp"

#include <gmock/gmock.h>

#include "support/usage_error.hpp"

namespace gossamer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct house {
  std::string colour = "red";
  std::uint64_t rooms = 3;
  std::optional<double> height = {};
  std::optional<double> storeys = {};
  bool garden = false;
};

constexpr interval<double> metres{0, 1e3};

const settings_table<house>& house_table() {
  static const settings_table<house> table{
      text_setting({.name = "colour", .value = "NAME", .help = ""}, &house::colour),
      number_setting({.name = "rooms", .value = "N", .help = ""}, &house::rooms, {1, 9}),
      instead_of(number_setting({.name = "height", .value = "M", .help = ""}, &house::height, metres), "storeys",
                 [](house& h) { h.storeys.reset(); }),
      number_setting({.name = "storeys", .value = "N", .help = ""}, &house::storeys, metres),
      switch_setting({.name = "garden", .value = "", .help = ""}, &house::garden),
  };
  return table;
}

house read(std::string_view text) {
  house result;
  for (const auto& given : parse_settings(text, "house.toml", keys_of(house_table())))
    apply(given, house_table(), result);
  return result;
}

TEST(settings_text, says_everything_that_is_set_a_line_each) {
  EXPECT_EQ(to_text(house_table(), house{.colour = "a \"b\"\n", .height = 0.1, .garden = true}),
            "colour = '''a \"b\"\n'''\nrooms = 3\nheight = 0.1\ngarden = 'yes'\n");
}

TEST(settings_text, is_read_back_to_the_last_bit) {
  const house from{.colour = "\u00e9\t'", .rooms = 9, .height = 1.0 / 3, .garden = true};
  const auto back = read(to_text(house_table(), from));
  EXPECT_EQ(back.colour, from.colour);
  EXPECT_EQ(back.rooms, from.rooms);
  EXPECT_EQ(back.height, from.height);
  EXPECT_EQ(back.storeys, from.storeys);
  EXPECT_EQ(back.garden, from.garden);
}

TEST(settings_text, writes_lines_as_an_array) {
  const setting_key words{.name = "words", .value = "WORD", .help = "", .joined_by = "\n"};
  EXPECT_EQ(settings_line(words, "a\nb c\nd"), "words = [ 'a', 'b c', 'd' ]\n");
  EXPECT_EQ(parse_settings(settings_line(words, "a\nb c\nd"), "x", {words})[0].value, "a\nb c\nd");
  EXPECT_EQ(settings_line(words, "alone"), "words = 'alone'\n");
}

TEST(settings_text, tells_tables_of_several_kinds_apart) {
  const auto keys = keys_of(house_table());
  const std::string text = "[[house]]\nrooms = 1\n[[shed]]\nrooms = 2\nspade = 1\n[[house]]\ncolour = 'blue'\n";
  const auto tables = parse_tables(text, "street.toml", {{"house", keys}, {"shed", keys, true}});
  ASSERT_EQ(tables.size(), 2u);
  ASSERT_EQ(tables[0].size(), 2u);
  ASSERT_EQ(tables[1].size(), 1u);
  EXPECT_EQ(tables[0][1].where, "street.toml:6");
  ASSERT_EQ(tables[1][0].settings.size(), 1u) << "the spade is for another reader";
  EXPECT_EQ(tables[1][0].settings[0].value, "2");
  const auto refusal = [&](const std::vector<table_kind>& kinds) {
    return usage_error([&] { parse_tables(text, "street.toml", kinds); });
  };
  EXPECT_THAT(refusal({{"house", keys}}), HasSubstr("unexpected 'shed'; the file has tables [[house]] and nothing"));
  EXPECT_THAT(refusal({{"house", keys}, {"shed", keys}}), HasSubstr("street.toml:5: unknown key 'spade'"));
}

TEST(settings_text, lets_what_is_said_later_count) {
  house h{.storeys = 2};
  apply({"height", "7", "here:1"}, house_table(), h);
  EXPECT_EQ(h.height, 7);
  EXPECT_EQ(h.storeys, std::nullopt);
}

// TOML reads "-0" as a whole number, which has no sign.
TEST(settings_text, writes_no_negative_zero) {
  EXPECT_EQ(number_text(-0.0), "0");
  EXPECT_EQ(number_text(-1.5), "-1.5");
}

TEST(settings_text, refuses_with_the_line) {
  const auto refusal = [](std::string_view text) { return usage_error([&] { read(text); }); };
  EXPECT_THAT(refusal("colour = 'red'\nrooms = 12"), HasSubstr("house.toml:2: --rooms is 12"));
  EXPECT_THAT(refusal("\nroms = 1"), HasSubstr("house.toml:2: unknown key 'roms'; did you mean 'rooms'?"));
  EXPECT_THAT(refusal("rooms = [1]"), HasSubstr("house.toml:1: rooms is neither text nor a number"));
  EXPECT_THAT(refusal("garden = 'maybe'"), HasSubstr("--garden is 'maybe'; allowed: yes or no"));
  EXPECT_THAT(refusal("height = 1\nstoreys = 1"), HasSubstr("house.toml: both height and storeys are given"));
  EXPECT_THAT(refusal("rooms = "), HasSubstr("house.toml:1"));
  EXPECT_THAT(usage_error([] { parse_settings("\nroms = 1", "street:2/house.toml", keys_of(house_table())); }),
              HasSubstr("street:2/house.toml:2: unknown key"));
}

} // namespace
} // namespace gossamer
