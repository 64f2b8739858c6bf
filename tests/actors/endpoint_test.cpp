#include "gossamer/actors/frames/endpoint.hpp"

#include <gmock/gmock.h>

#include "data_plane/support.hpp"

namespace gossamer::actors {
namespace {

using testing::HasSubstr;

std::string refusal(std::string_view text) {
  return test::refusal_of([&] { parse_endpoint(text); }, errc::usage);
}

TEST(endpoint, is_read_as_it_is_written) {
  for (const auto& [text, expected] : {std::pair{"192.0.2.7:4000", endpoint{"192.0.2.7", 4000}},
                                       {"node-3.example.org:0", {"node-3.example.org", 0}},
                                       {"[2001:db8::7]:65535", {"2001:db8::7", 65535}},
                                       {"[fe80::1%eth0]:1", {"fe80::1%eth0", 1}}}) {
    EXPECT_EQ(parse_endpoint(text), expected) << text;
    EXPECT_EQ(to_string(expected), text);
  }
}

TEST(endpoint, says_what_is_wrong_with_it) {
  for (const auto* text : {"", "localhost", "[::1]", "[::1", "::1]"})
    EXPECT_NE(refusal(text), "accepted") << text;
  EXPECT_THAT(refusal("localhost"), HasSubstr("no port"));
  EXPECT_THAT(refusal("::1:4000"), HasSubstr("stands in brackets"));
  EXPECT_THAT(refusal(":4000"), HasSubstr("no host"));
  EXPECT_THAT(refusal("[]:4000"), HasSubstr("no host"));
  for (const auto* text : {"a:", "a:65536", "a:-1", "a:+1", "a: 1", "a:1 ", "a:1x", "a:99999999999999999999"})
    EXPECT_THAT(refusal(text), HasSubstr("no number from 0 to 65535")) << text;
  for (const auto* text : {"a b:1", "a/b:1", "\x1b[2J:1", "[::1 ]:1"})
    EXPECT_THAT(refusal(text), HasSubstr("neither a name nor an address")) << text;
  EXPECT_THAT(refusal("\x1b:1"), HasSubstr("'\\x1b:1'"));
}

} // namespace
} // namespace gossamer::actors
