#include "gossamer/apps/detail/program.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gossamer::apps {

namespace {

std::vector<actors::algorithm_entry> joined(std::span<const actors::algorithm_entry> own) {
  std::vector<actors::algorithm_entry> all{actors::algorithms().begin(), actors::algorithms().end()};
  for (const auto& entry : own) {
    const auto same = [&](const auto& other) { return other.about.name == entry.about.name; };
    if (std::ranges::any_of(all, same))
      throw error(errc::usage, fmt::format("there are two algorithms '{}'", entry.about.name),
                  "give the program's own one another name");
    all.push_back(entry);
  }
  return all;
}

} // namespace

program::program(std::string path, std::span<const actors::algorithm_entry> own)
    : path_(std::move(path)), name_(path_.substr(path_.rfind('/') + 1)), entries_(joined(own)) {}

} // namespace gossamer::apps
