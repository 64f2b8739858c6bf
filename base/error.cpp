#include "gossamer/base/error.hpp"

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

error::error(errc code, std::string sentence, std::string remedy)
    : std::runtime_error(remedy.empty() ? sentence : sentence + "; " + remedy), code_(code),
      sentence_(std::move(sentence)), remedy_(std::move(remedy)) {}

namespace detail {
void assertion_failed(const char* condition, const char* promise, const char* file, int line) {
  std::fprintf(stderr, "gossamer: broken promise at %s:%d: %s (%s)\n", file, line, promise, condition);
  std::abort();
}
} // namespace detail

} // namespace gossamer
