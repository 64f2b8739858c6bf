#include "gossamer/base/error.hpp"

#include "gossamer/base/printable.hpp"
#include "gossamer/base/within_memory.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace gossamer {

std::string_view to_string(errc code) noexcept {
  switch (code) {
  case errc::usage:
    return "usage";
  case errc::bad_data:
    return "bad-data";
  case errc::io:
    return "io";
  case errc::bad_packet:
    return "bad-packet";
  case errc::diverged:
    return "diverged";
  case errc::interrupted:
    return "interrupted";
  case errc::failed:
    return "failed";
  case errc::device:
    return "device";
  }
  return "unknown";
}

namespace {

/// Returns the size of the first character of the text in bytes; 0 where that is not UTF-8.
std::size_t utf8_prefix(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const auto lead = byte(0);
  if (lead < 0x80)
    return 1;
  const std::size_t size = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4)
    return 0;
  for (std::size_t i = 1; i < size; ++i)
    if ((byte(i) & 0xC0) != 0x80)
      return 0;
  const bool overlong_or_surrogate = (lead == 0xE0 && byte(1) < 0xA0) || (lead == 0xED && byte(1) >= 0xA0)
                                     || (lead == 0xF0 && byte(1) < 0x90) || (lead == 0xF4 && byte(1) >= 0x90);
  return overlong_or_surrogate ? 0 : size;
}

bool begins_with_control(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  return lead < 0x20 || lead == 0x7F || (lead == 0xC2 && text.size() > 1 && static_cast<unsigned char>(text[1]) < 0xA0);
}

} // namespace

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const auto size = utf8_prefix(text);
    if (size == 0)
      return false;
    text.remove_prefix(size);
  }
  return true;
}

std::string printable(std::string_view text) {
  constexpr auto digits = "0123456789abcdef";
  std::string result;
  while (!text.empty()) {
    const auto size = begins_with_control(text) ? 0 : utf8_prefix(text);
    const auto byte = static_cast<unsigned char>(text.front());
    if (size > 0)
      result.append(text.substr(0, size));
    else
      result.append({'\\', 'x', digits[byte >> 4], digits[byte & 15]});
    text.remove_prefix(std::max<std::size_t>(size, 1));
  }
  return result;
}

error::error(errc code, std::string sentence, std::string remedy)
    : std::runtime_error(printable(remedy.empty() ? sentence : sentence + "; " + remedy)), code_(code),
      sentence_(printable(sentence)), remedy_(printable(remedy)) {}

namespace detail {
void assertion_failed(const char* condition, const char* promise, const char* file, int line) {
  std::fprintf(stderr, "gossamer: broken promise at %s:%d: %s (%s)\n", file, line, promise, condition);
  std::abort();
}

void memory_ended(std::string_view doing, std::string_view remedy) {
  throw error(errc::io, "memory ended while " + std::string{doing}, std::string{remedy});
}
} // namespace detail

} // namespace gossamer
