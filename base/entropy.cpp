#include "gossamer/base/entropy.hpp"

#include "gossamer/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <unistd.h>

namespace gossamer {

void draw_secret(std::span<std::byte> to) {
  constexpr std::size_t most_at_once = 256; // that the system delivers without interruption
  while (!to.empty()) {
    const auto part = to.first(std::min(to.size(), most_at_once));
    if (getentropy(part.data(), part.size()) != 0)
      throw error(errc::io, fmt::format("the system gives no random number: {}", std::strerror(errno)));
    to = to.subspan(part.size());
  }
}

std::uint64_t secret_number() {
  std::uint64_t number = 0;
  draw_secret(std::as_writable_bytes(std::span{&number, 1}));
  return number;
}

} // namespace gossamer
