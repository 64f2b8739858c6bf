#include "gossamer/actors/data_plane/access_token.hpp"

#include "gossamer/base/entropy.hpp"
#include "gossamer/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace gossamer::actors {

namespace {

error bad_token(std::string_view source, std::string_view problem) {
  return {errc::usage, fmt::format("{} holds no token: {}", source, problem),
          fmt::format("a token has {} to {} letters, digits or signs, without spaces, e.g. what `openssl rand -hex 16` "
                      "prints",
                      access_token::shortest, access_token::longest)};
}

} // namespace

access_token access_token::drawn() {
  std::array<std::byte, 16> secret{};
  draw_secret(secret);
  std::string text;
  for (const auto byte : secret)
    text += fmt::format("{:02x}", static_cast<unsigned>(byte));
  return {text, "the system's random numbers"};
}

access_token::access_token(std::string_view text, std::string_view source) : text_(text) {
  if (text.empty())
    throw bad_token(source, "it is empty");
  if (text.size() < shortest || text.size() > longest)
    throw bad_token(source, fmt::format("it has {} characters", text.size()));
  if (!std::ranges::all_of(text, [](char c) { return c > ' ' && c <= '~'; }))
    throw bad_token(source, "it has a space, or what is not ASCII");
}

} // namespace gossamer::actors
