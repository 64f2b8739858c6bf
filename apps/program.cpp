#include "gossamer/apps/detail/program.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gossamer::apps {

namespace {

template <class Entry>
std::vector<Entry> joined(const registry<Entry>& built_in, std::span<const Entry> own) {
  std::vector<Entry> all{built_in.begin(), built_in.end()};
  for (const auto& entry : own) {
    const auto same = [&](const auto& other) { return other.about.name == entry.about.name; };
    if (std::ranges::any_of(all, same))
      throw error(errc::usage, fmt::format("there are two of the name '{}' ({})", entry.about.name, built_in.what()),
                  "give the program's own one another name");
    all.push_back(entry);
  }
  return all;
}

} // namespace

program::program(std::string path, const embedding& with)
    : path_(std::move(path)), name_(path_.substr(path_.rfind('/') + 1)),
      algorithms_(joined(actors::algorithms(), with.own.algorithms)),
      models_(joined(compute::models(), with.own.models)), data_(joined(compute::data_sources(), with.own.data)),
      on_folder_(with.on_folder), has_results_(with.has_results) {}

} // namespace gossamer::apps
