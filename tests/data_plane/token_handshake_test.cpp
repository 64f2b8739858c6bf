// Two ends that prove to each other that they know a token, and strangers that try to.
#include "gossamer/actors/data_plane/token_handshake.hpp"
#include "gossamer/base/error.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <vector>

namespace gossamer::actors {
namespace {

using testing::Each;
using testing::HasSubstr;
using state = token_handshake::state;
using role = token_handshake::role;
using bytes = std::vector<std::byte>;

const access_token ours{"0123456789abcdef", "a test"}, another{"0123456789abcdeg", "a test"};

token_handshake::nonce nonce_of(std::uint8_t seed) {
  token_handshake::nonce result{};
  for (auto& b : result)
    b = static_cast<std::byte>(seed += 7);
  return result;
}

bytes taken_from(token_handshake& h) {
  const auto words = h.unsent();
  bytes result{words.begin(), words.end()};
  h.sent(words.size());
  return result;
}

/// @returns number of bytes that the handshake has taken
std::size_t give(token_handshake& to, const bytes& what, std::size_t piece = SIZE_MAX) {
  std::size_t given = 0;
  while (given < what.size() && !to.room().empty()) {
    const auto room = to.room();
    const auto now = std::min({room.size(), what.size() - given, piece});
    std::ranges::copy(std::span{what}.subspan(given, now), room.begin());
    to.commit(now);
    given += now;
  }
  return given;
}

/// The bytes that each end has sent, until both are silent.
struct conversation {
  bytes opener, acceptor;
};
conversation talk(token_handshake& opener, token_handshake& acceptor, std::size_t piece = SIZE_MAX) {
  conversation result;
  for (bool more = true; more;) {
    const auto a = taken_from(opener);
    give(acceptor, a, piece);
    const auto b = taken_from(acceptor);
    give(opener, b, piece);
    result.opener.insert(result.opener.end(), a.begin(), a.end());
    result.acceptor.insert(result.acceptor.end(), b.begin(), b.end());
    more = !a.empty() || !b.empty();
  }
  return result;
}

TEST(token_handshake, is_established_between_two_who_know_the_token_however_bytes_are_cut) {
  for (const std::size_t piece : {std::size_t{1}, std::size_t{5}, std::size_t{48}, SIZE_MAX}) {
    token_handshake a{role::opens, ours, nonce_of(1)}, b{role::accepts, ours, nonce_of(2)};
    const auto said = talk(a, b, piece);
    EXPECT_EQ(a.now(), state::established);
    EXPECT_EQ(b.now(), state::established);
    EXPECT_TRUE(a.room().empty() && b.room().empty()) << "what follows is for others";
    EXPECT_EQ(said.opener.size(), token_handshake::greeting_bytes + token_handshake::proof_bytes);
    EXPECT_EQ(said.acceptor.size(), said.opener.size());
  }
}

TEST(token_handshake, never_sends_the_token) {
  token_handshake a{role::opens, ours, nonce_of(1)}, b{role::accepts, ours, nonce_of(2)};
  const auto said = talk(a, b);
  const auto secret = std::as_bytes(std::span{ours.text()}).first(8);
  for (const auto& one : {said.opener, said.acceptor})
    EXPECT_EQ(std::search(one.begin(), one.end(), secret.begin(), secret.end()), one.end());
}

TEST(token_handshake, ends_of_different_tokens_refuse_each_other) {
  token_handshake a{role::opens, ours, nonce_of(1)}, b{role::accepts, another, nonce_of(2)};
  const auto said = talk(a, b);
  EXPECT_EQ(a.now(), state::refused);
  EXPECT_EQ(a.trouble(), "does not accept this token");
  EXPECT_EQ(b.now(), state::failed);
  EXPECT_EQ(b.trouble(), "does not know the token");
  EXPECT_THAT(bytes(said.acceptor.end() - token_handshake::proof_bytes, said.acceptor.end()), Each(std::byte{0}))
      << "a proof would let the stranger guess tokens at home";
}

TEST(token_handshake, recorded_bytes_prove_nothing_on_another_connection) {
  token_handshake a{role::opens, ours, nonce_of(1)}, b{role::accepts, ours, nonce_of(2)};
  const auto recorded = talk(a, b);
  token_handshake later{role::accepts, ours, nonce_of(3)};
  give(later, recorded.opener);
  EXPECT_EQ(later.now(), state::failed);
  token_handshake dialling{role::opens, ours, nonce_of(4)};
  give(dialling, recorded.acceptor);
  EXPECT_EQ(dialling.now(), state::failed) << "who listens in its place is believed no more";
}

TEST(token_handshake, what_is_sent_back_proves_nothing) {
  token_handshake a{role::opens, ours, nonce_of(1)};
  give(a, taken_from(a)); // its own greeting comes back as a challenge
  give(a, taken_from(a)); // its own proof comes back as the answer
  EXPECT_EQ(a.now(), state::failed);
  token_handshake b{role::accepts, ours, nonce_of(2)}, stranger{role::opens, another, nonce_of(2)};
  give(b, taken_from(stranger)); // contains the nonce that b has drawn itself
  give(b, bytes(token_handshake::proof_bytes));
  EXPECT_EQ(b.now(), state::failed);
}

TEST(token_handshake, one_bit_that_is_another_costs_the_connection) {
  constexpr auto all = token_handshake::greeting_bytes + token_handshake::proof_bytes;
  for (std::size_t at = 0; at < all; ++at) {
    token_handshake a{role::opens, ours, nonce_of(1)}, b{role::accepts, ours, nonce_of(2)};
    auto first = taken_from(a);
    if (at < first.size())
      first[at] ^= std::byte{0x10};
    give(b, first);
    give(a, taken_from(b));
    auto second = taken_from(a);
    if (at >= first.size() && !second.empty())
      second[at - first.size()] ^= std::byte{0x10};
    give(b, second);
    EXPECT_EQ(b.now(), state::failed) << "bit of byte " << at;
  }
}

TEST(token_handshake, waits_for_the_rest_of_what_was_cut_off) {
  token_handshake a{role::opens, ours, nonce_of(1)};
  auto greeting = taken_from(a);
  greeting.pop_back();
  token_handshake b{role::accepts, ours, nonce_of(2)};
  give(b, greeting);
  EXPECT_EQ(b.now(), state::under_way);
  EXPECT_TRUE(b.unsent().empty()) << "strangers are told nothing";
  EXPECT_EQ(b.room().size(), 1U);
}

TEST(token_handshake, says_nothing_to_who_speaks_otherwise_from_the_first_wrong_byte) {
  for (const std::string_view other : {"GET / HTTP/1.1", "gossamer", "\x16\x03\x01", "gossamer door 2\n"}) {
    token_handshake b{role::accepts, ours, nonce_of(2)};
    const auto words = std::as_bytes(std::span{other});
    const auto taken = give(b, {words.begin(), words.end()}, 1);
    if (token_handshake::greeting.starts_with(other)) {
      EXPECT_EQ(b.now(), state::under_way);
      continue;
    }
    EXPECT_EQ(b.now(), state::failed);
    EXPECT_LE(taken, other.size());
    EXPECT_TRUE(b.unsent().empty());
  }
}

TEST(token_handshake, says_what_a_close_means) {
  token_handshake a{role::opens, ours, nonce_of(1)};
  EXPECT_THAT(std::string{a.meaning_of_close()},
              testing::AllOf(HasSubstr("as a node with certificates or with --no-token does"),
                             HasSubstr("or is asked by too many at once")));
  token_handshake b{role::accepts, ours, nonce_of(2)};
  give(b, taken_from(a));
  give(a, taken_from(b));
  EXPECT_THAT(std::string{a.meaning_of_close()}, HasSubstr("before it has shown the token"));
}

TEST(access_token, is_another_one_each_time_it_is_drawn) {
  const auto one = access_token::drawn(), two = access_token::drawn();
  EXPECT_EQ(one.text().size(), 32U);
  EXPECT_NE(one.text(), two.text());
}

TEST(access_token, is_refused_without_being_repeated) {
  for (const auto& text :
       {std::string{}, std::string{"too short"}, std::string(257, 'x'), std::string{"has a space in it all"},
        std::string{"has\ta tab in it all"}, std::string{"schl\xc3\xbcssel-0123456789"}}) {
    try {
      const access_token made{text, "GOSSAMER_TOKEN"};
      FAIL() << text;
    } catch (const error& e) {
      EXPECT_EQ(e.code(), errc::usage);
      EXPECT_THAT(e.sentence(), HasSubstr("GOSSAMER_TOKEN holds no token"));
      EXPECT_TRUE(text.empty() || std::string{e.what()}.find(text) == std::string::npos);
    }
  }
}

} // namespace
} // namespace gossamer::actors
