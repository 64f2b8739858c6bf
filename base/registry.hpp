#pragma once

#include "gossamer/base/error.hpp"
#include "gossamer/base/spec.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gossamer {

/// "unknown codec 'unifrom'; did you mean 'uniform'? known: identity, uniform".
error unknown_name(std::string_view what, std::string_view name, const std::vector<std::string>& known);

/// "there are two of the name 'uniform' (codec)"
error name_taken(std::string_view what, std::string_view name);

/// An explicit table of the things of one kind (codecs, topologies, models, data, algorithms). No entry registers
/// itself; a table is written down in one place. `Entry` has a member `description about`.
///
/// Adding an entry is one file and one line in the table; the command line, the documentation, the benchmarks and the
/// law tests follow.
template <class Entry>
class registry {
public:
  constexpr registry(std::string_view what, std::span<const Entry> entries) : what_(what), entries_(entries) {}

  std::string_view what() const { return what_; }
  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }

  std::vector<std::string> names() const {
    std::vector<std::string> result;
    for (const auto& entry : entries_)
      result.push_back(entry.about.name);
    return result;
  }

  /// @error errc::usage when no entry has that name; suggests the nearest
  const Entry& find(std::string_view name) const {
    for (const auto& entry : entries_)
      if (entry.about.name == name)
        return entry;
    throw unknown_name(what_, name, names());
  }

  /// The entry that a spec names, with its checked arguments.
  std::pair<const Entry&, arguments> resolve(const spec& given) const {
    const auto& entry = find(given.name);
    return {entry, arguments(what_, entry.about, given)};
  }
  std::pair<const Entry&, arguments> resolve(std::string_view text) const { return resolve(spec::parse(text)); }

private:
  std::string_view what_;
  std::span<const Entry> entries_;
};

/// Returns the entries of a table and a program's own, for a table of both.
/// @error errc::usage when two have one name
template <class Entry>
std::vector<Entry> joined(const registry<Entry>& built_in, std::span<const Entry> own) {
  std::vector<Entry> all{built_in.begin(), built_in.end()};
  for (const auto& entry : own) {
    for (const auto& other : all)
      if (other.about.name == entry.about.name)
        throw name_taken(built_in.what(), entry.about.name);
    all.push_back(entry);
  }
  return all;
}

} // namespace gossamer
