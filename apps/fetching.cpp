#include "gossamer/apps/detail/fetching.hpp"

#include "gossamer/apps/detail/user_folder.hpp"
#include "gossamer/base/error.hpp"
#include "gossamer/base/spec.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace gossamer::apps {

namespace {

constexpr std::array<std::pair<std::string_view, double>, 8> units{{{"", 1},
                                                                    {"B", 1},
                                                                    {"kB", 1e3},
                                                                    {"MB", 1e6},
                                                                    {"GB", 1e9},
                                                                    {"KiB", 1024.0},
                                                                    {"MiB", 1024.0 * 1024},
                                                                    {"GiB", 1024.0 * 1024 * 1024}}};

} // namespace

std::filesystem::path cache_folder() {
  return user_folder("XDG_CACHE_HOME", ".cache", "fetched data", "set one of them, or say it: --data-cache DIR");
}

double parse_byte_rate(std::string_view flag, std::string_view text) {
  constexpr double bits = 8, most = 1e15;
  if (text.ends_with("b/s"))
    return parse_quantity(quantity::rate, flag, text, bits, bits * most) / bits;
  auto number = text;
  if (number.ends_with("/s"))
    number.remove_suffix(2);
  const auto end = number.find_last_of("0123456789.");
  const auto unit = number.substr(end == std::string_view::npos ? 0 : end + 1);
  number.remove_suffix(unit.size());
  for (const auto& [name, bytes] : units)
    if (unit == name && !number.empty())
      return bytes * parse_real(flag, number, 1 / bytes, most / bytes);
  throw error(errc::usage, fmt::format("{} is '{}', which is not so many bytes a second", flag, text),
              "for example 8MB/s, 500kB/s or 1.5MiB/s, or in bits 64Mb/s");
}

} // namespace gossamer::apps
