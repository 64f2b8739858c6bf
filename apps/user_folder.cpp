#include "gossamer/apps/detail/user_folder.hpp"

#include "gossamer/base/error.hpp"

#include <fmt/format.h>

#include <cstdlib>

namespace gossamer::apps {

namespace {

std::filesystem::path path_in(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr ? value : "";
}

} // namespace

std::filesystem::path user_folder(const char* variable, const char* below_home, const std::string& what,
                                  const std::string& remedy) {
  const auto named = path_in(variable), home = path_in("HOME");
  if (named.is_absolute()) // the specification says that relative paths do not count
    return named / "gossamer";
  if (home.is_absolute())
    return home / below_home / "gossamer";
  throw error(errc::usage, fmt::format("neither {} nor HOME says where {} is kept", variable, what), remedy);
}

} // namespace gossamer::apps
