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

/// The number that a variable gives, or else the system.
std::optional<std::size_t> extent_of(int file, const char* name, unsigned short winsize::*extent) {
  const auto given = variable(name);
  std::size_t number = 0;
  if (std::from_chars(given.begin(), given.end(), number).ec == std::errc{} && number > 0)
    return number;
  winsize size{};
  if (isatty(file) == 1 && ioctl(file, TIOCGWINSZ, &size) == 0 && size.*extent > 0)
    return size.*extent;
  return {};
}

} // namespace

std::optional<std::size_t> columns_of(int file) { return extent_of(file, "COLUMNS", &winsize::ws_col); }
std::optional<std::size_t> rows_of(int file) { return extent_of(file, "LINES", &winsize::ws_row); }

std::size_t text_width(int file) { return std::clamp<std::size_t>(columns_of(file).value_or(80), 40, 120); }

bool can_rewrite(int file) { return isatty(file) == 1 && variable("TERM") != "dumb" && !variable("TERM").empty(); }

bool shows_unicode() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"})
    if (const auto locale = variable(name); !locale.empty())
      return locale.find("UTF-8") != locale.npos || locale.find("utf8") != locale.npos;
  return false;
}

bool may_colour(int file) { return can_rewrite(file) && variable("NO_COLOR").empty(); }

} // namespace gossamer::apps
