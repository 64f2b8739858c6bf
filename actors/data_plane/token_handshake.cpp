#include "gossamer/actors/data_plane/token_handshake.hpp"

#include "gossamer/base/error.hpp"

#include <algorithm>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <vector>

namespace gossamer::actors {

namespace {

constexpr std::string_view opens = "opens", accepts = "accepts";

void append(std::vector<unsigned char>& to, std::span<const std::byte> bytes) {
  for (const auto byte : bytes)
    to.push_back(static_cast<unsigned char>(byte));
}

bool are_zeros(std::span<const std::byte> bytes) {
  return std::ranges::all_of(bytes, [](std::byte b) { return b == std::byte{0}; });
}

} // namespace

token_handshake::token_handshake(role own_role, const access_token& token, const nonce& own)
    : own_role_(own_role), token_(token), own_(own) {
  if (own_role == role::opens)
    greet();
}

std::string_view token_handshake::meaning_of_close() const noexcept {
  if (state_ != state::under_way)
    return trouble_;
  return greeted_ ? "closed the connection before it has shown the token"
                  : "closes connections without a word, as a node with certificates or with --no-token does, or is "
                    "asked by too many at once";
}

std::span<std::byte> token_handshake::room() noexcept {
  if (state_ != state::under_way)
    return {};
  return std::span{in_}.first(greeted_ ? proof_bytes : greeting_bytes).subspan(heard_);
}

void token_handshake::commit(std::size_t bytes) {
  GOSSAMER_ASSERT(bytes <= room().size(), "there is room for what has come");
  heard_ += bytes;
  if (!greeted_)
    hear_greeting();
  else if (heard_ == proof_bytes)
    hear_proof();
}

void token_handshake::greet() {
  say(std::as_bytes(std::span{greeting}));
  say(own_);
}

/// Fails at the first byte that differs from the greeting, since a peer with another protocol may wait for an answer.
void token_handshake::hear_greeting() {
  const auto words = std::as_bytes(std::span{greeting});
  if (!std::ranges::equal(std::span{in_}.first(std::min(heard_, words.size())),
                          words.first(std::min(heard_, words.size()))))
    return fail(state::failed, "does not ask for a token, as a node with --no-token, or is no node");
  if (heard_ < greeting_bytes)
    return;
  std::ranges::copy(std::span{in_}.subspan(words.size()), theirs_.begin());
  greeted_ = true;
  heard_ = 0;
  own_role_ == role::opens ? say(proof_of(role::opens)) : greet();
}

void token_handshake::hear_proof() {
  const auto theirs = std::span{in_}.first(proof_bytes);
  const auto expected = proof_of(own_role_ == role::opens ? role::accepts : role::opens);
  const bool right = CRYPTO_memcmp(theirs.data(), expected.data(), proof_bytes) == 0;
  if (own_role_ == role::accepts)
    say(right ? proof_of(role::accepts) : proof{});
  if (right)
    state_ = state::established;
  else if (own_role_ == role::opens && are_zeros(theirs))
    fail(state::refused, "does not accept this token");
  else
    fail(state::failed, "does not know the token");
}

void token_handshake::say(std::span<const std::byte> bytes) {
  std::ranges::copy(bytes, out_.begin() + static_cast<std::ptrdiff_t>(said_));
  said_ += bytes.size();
}

void token_handshake::fail(state how, std::string_view why) {
  state_ = how;
  trouble_ = why;
}

token_handshake::proof token_handshake::proof_of(role whose) const {
  const bool own_opens = own_role_ == role::opens;
  std::vector<unsigned char> about;
  append(about, std::as_bytes(std::span{greeting}));
  append(about, std::as_bytes(std::span{whose == role::opens ? opens : accepts}));
  append(about, own_opens ? own_ : theirs_);
  append(about, own_opens ? theirs_ : own_);
  proof result{};
  unsigned size = 0;
  const auto& key = token_.text();
  const auto* made = HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), about.data(), about.size(),
                          reinterpret_cast<unsigned char*>(result.data()), &size);
  if (made == nullptr || size != proof_bytes)
    throw error(errc::failed, "OpenSSL cannot make an HMAC");
  return result;
}

} // namespace gossamer::actors
