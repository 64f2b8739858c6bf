#include "gossamer/base/error.hpp"
#include "gossamer/base/printable.hpp"
#include "gossamer/base/within_memory.hpp"

#include <gmock/gmock.h>

#include <vector>

namespace gossamer {
namespace {

using namespace std::string_literals;
using testing::HasSubstr;

TEST(printable, leaves_nothing_that_a_terminal_acts_on) {
  EXPECT_EQ(printable("\x1b]0;title\x07"), "\\x1b]0;title\\x07");
  EXPECT_EQ(printable("a\0b\nc\td\x7f"s), "a\\x00b\\x0ac\\x09d\\x7f");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            "\\xc2\\x9b31m"); // the control sequence introducer as one character
  EXPECT_EQ(printable("\x9b"
                      "31m"),
            "\\x9b31m"); // the introducer as one byte
}

TEST(printable, keeps_what_is_text) {
  for (const char* text : {"", "plain 'text'; with \\ and \"", "\u00e9\u20ac\U0001F600", "\u00a0"})
    EXPECT_EQ(printable(text), text);
}

TEST(printable, writes_out_what_is_no_utf8) {
  EXPECT_EQ(printable("\xff"), "\\xff");
  EXPECT_EQ(printable("\xe2\x82"), "\\xe2\\x82");          // ends early
  EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf");          // overlong
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80"); // a surrogate
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");
}

TEST(utf8, has_control_characters_and_no_broken_ones) {
  EXPECT_TRUE(is_utf8("\x1b\x7f\u0080\u00e9\u20ac\U0001F600"));
  for (const char* text : {"\xff", "a\xe2\x82", "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80"})
    EXPECT_FALSE(is_utf8(text)) << printable(text);
}

TEST(printable, changes_a_text_once) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte)
    all += static_cast<char>(byte);
  EXPECT_EQ(printable(printable(all)), printable(all));
}

TEST(error, is_printable_as_a_whole) {
  const error e{errc::bad_data, "label '\0\x1b'"s, "not \a"};
  EXPECT_STREQ(e.what(), "label '\\x00\\x1b'; not \\x07");
  EXPECT_EQ(e.sentence(), "label '\\x00\\x1b'");
  EXPECT_EQ(e.remedy(), "not \\x07");
}

TEST(within_memory, says_during_what_it_ended) {
  EXPECT_EQ(within_memory("counting", "", [] { return 3; }), 3);
  const auto message = [](auto work) -> std::string {
    try {
      within_memory("making a list", "make a shorter one", work);
    } catch (const error& e) {
      EXPECT_EQ(e.code(), errc::io);
      return e.what();
    }
    return "no error";
  };
  EXPECT_EQ(message([] { throw std::bad_alloc{}; }), "memory ended while making a list; make a shorter one");
  EXPECT_EQ(message([] { std::vector<int>{}.reserve(SIZE_MAX); }),
            "memory ended while making a list; make a shorter one");
  EXPECT_THROW(within_memory("", "", [] { throw std::runtime_error{"other"}; }), std::runtime_error);
}

} // namespace
} // namespace gossamer
