#include "gossamer/actors/data_plane/hello.hpp"

#include <gmock/gmock.h>

#include "data_plane/support.hpp"

namespace gossamer::actors {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const hello mine{.run = 11, .fingerprint = 12, .received = 13, .node = 1, .life = 4, .meant_node = 2, .meant_life = 7};
const hello theirs{
    .run = 11, .fingerprint = 12, .received = 99, .node = 2, .life = 7, .meant_node = 1, .meant_life = 4};

TEST(hello, is_read_as_it_was_written) { EXPECT_EQ(read_hello(write(mine)), mine); }

TEST(hello, is_refused_with_any_bit_flipped) {
  const auto good = write(mine);
  for (std::size_t bit = 0; bit < 8 * good.size(); ++bit) {
    auto bytes = good;
    bytes[bit / 8] ^= static_cast<std::byte>(1u << bit % 8);
    EXPECT_EQ(read_hello(bytes), std::nullopt) << "bit " << bit;
  }
}

TEST(hello, is_welcome_from_who_is_meant) { EXPECT_EQ(objection(mine, theirs), std::nullopt); }

TEST(hello, meets_an_objection_that_names_both_values) {
  const auto sentence = [](auto change, refusal_code code) {
    auto changed = theirs;
    change(changed);
    const auto here = objection(mine, changed), there = objection(changed, mine);
    EXPECT_TRUE(here && here->code == code);
    EXPECT_EQ(here, there) << "both ends see it";
    return here ? here->sentence : "";
  };
  using enum refusal_code;
  EXPECT_THAT(sentence([](hello& h) { h.version = 5; }, incompatible),
              AllOf(HasSubstr("node 2 speaks version 5"), HasSubstr("node 1 version 3")));
  EXPECT_THAT(sentence([](hello& h) { h.run = 0xab; }, incompatible),
              AllOf(HasSubstr("00000000000000ab"), HasSubstr("000000000000000b")));
  EXPECT_THAT(sentence([](hello& h) { h.fingerprint = 0xab; }, incompatible),
              AllOf(HasSubstr("fingerprint 00000000000000ab"), HasSubstr("000000000000000c")));
  EXPECT_THAT(sentence([](hello& h) { h.meant_node = 3; }, not_here), HasSubstr("life 4 of node 3"));
  EXPECT_THAT(sentence([](hello& h) { h.meant_life = 3; }, not_here), HasSubstr("life 3 of node 1"));
  EXPECT_THAT(sentence([](hello& h) { h.node = 3; }, not_here), HasSubstr("node 3"));
  EXPECT_THAT(sentence([](hello& h) { h.life = 8; }, not_here), HasSubstr("life 8 of node 2"));
}

TEST(refusal, is_read_as_it_was_written_and_printable) {
  for (const auto& [said, heard] :
       {std::pair<std::string, std::string>{"no", "no"}, {"\x1b[2J", "\\x1b[2J"}, {"", ""}}) {
    const auto record = write(refusal{refusal_code::nonsense, said});
    EXPECT_EQ(read_refusal(std::span{record}.subspan(record_head_bytes)), (refusal{refusal_code::nonsense, heard}));
  }
  const auto record = write(refusal{refusal_code::not_here, std::string(1000, 'x')});
  EXPECT_EQ(record.size(), record_head_bytes + 1 + longest_refusal);
}

TEST(refusal, without_a_known_code_is_none) {
  EXPECT_EQ(read_refusal({}), std::nullopt);
  for (const auto code : {0, 4, 255}) {
    const std::vector body(3, static_cast<std::byte>(code));
    EXPECT_EQ(read_refusal(body), std::nullopt);
  }
  EXPECT_EQ(read_refusal(std::vector(2 + longest_refusal, std::byte{1})), std::nullopt);
}

} // namespace
} // namespace gossamer::actors
