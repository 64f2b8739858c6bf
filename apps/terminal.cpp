#include "gossamer/apps/detail/terminal.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string>
#include <string_view>
#include <sys/ioctl.h>
#include <unistd.h>

namespace gossamer::apps {

namespace {

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

} // namespace

std::optional<std::size_t> columns_of(int file) {
  const auto given = variable("COLUMNS");
  std::size_t columns = 0;
  if (std::from_chars(given.begin(), given.end(), columns).ec == std::errc{} && columns > 0)
    return columns;
  winsize size{};
  if (isatty(file) == 1 && ioctl(file, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    return size.ws_col;
  return {};
}

std::size_t text_width(int file) { return std::clamp<std::size_t>(columns_of(file).value_or(80), 40, 120); }

bool can_rewrite(int file) { return isatty(file) == 1 && variable("TERM") != "dumb" && !variable("TERM").empty(); }

bool may_colour(int file) { return can_rewrite(file) && variable("NO_COLOR").empty(); }

} // namespace gossamer::apps
