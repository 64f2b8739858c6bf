#include "gossamer/actors/protocol/fingerprint.hpp"

#include "gossamer/base/settings_text.hpp"

#include <fmt/format.h>

#include <map>
#include <xxhash.h>

namespace gossamer::actors {

namespace {

template <class T, class Allocator>
std::uint64_t hash_of(const std::vector<T, Allocator>& values, std::uint64_t before) {
  const auto size = XXH3_64bits_withSeed(&before, sizeof before, values.size());
  return XXH3_64bits_withSeed(values.data(), values.size() * sizeof(T), size);
}

std::uint64_t hash_of(const compute::dataset& d, std::uint64_t before) {
  auto hash = before;
  for (const auto* part : {&d.dense, &d.values, &d.targets})
    hash = hash_of(*part, hash);
  hash = hash_of(d.columns, hash_of(d.row_start, hash));
  for (const auto& name : d.class_names)
    hash = XXH3_64bits_withSeed(name.data(), name.size(), hash);
  return hash;
}

using lines = std::map<std::string, std::string>; // values by key

lines lines_of(const std::string& text) {
  lines result;
  for (const auto& line : split(text, '\n'))
    if (const auto equals = line.find(" = "); equals != std::string::npos)
      result[line.substr(0, equals)] = line.substr(equals + 3);
  return result;
}

const std::string& value_of(const lines& all, const std::string& key) {
  static const std::string absent = "not given";
  const auto found = all.find(key);
  return found == all.end() ? absent : found->second;
}

} // namespace

fingerprint fingerprint_of(const experiment& e) {
  auto common = e.settings;
  common.device = run_settings{}.device;
  common.threads = run_settings{}.threads;
  fingerprint result;
  result.settings = to_text(common);
  result.samples = e.data.train.samples;
  result.features = e.data.train.features;
  result.classes = e.data.train.classes;
  result.dimension = e.initial.size();
  result.data = hash_of(e.data.test, hash_of(e.data.train, 0));
  result.initial = XXH3_64bits(e.initial.data(), e.initial.storage().size());
  return result;
}

std::uint64_t digest_of(const fingerprint& f) {
  const std::uint64_t numbers[] = {f.control, f.wire, f.samples, f.features, f.classes, f.dimension, f.data, f.initial};
  return XXH3_64bits_withSeed(f.settings.data(), f.settings.size(), XXH3_64bits(numbers, sizeof numbers));
}

std::vector<std::string> differences(const fingerprint& here, const fingerprint& there) {
  std::vector<std::string> result;
  const auto compare = [&](std::string_view what, const auto& mine, const auto& theirs) {
    if (mine != theirs)
      result.push_back(fmt::format("{} is {} here and {} there", what, mine, theirs));
  };
  const auto compare_content = [&](std::string_view what, std::uint64_t mine, std::uint64_t theirs) {
    if (mine != theirs)
      result.push_back(fmt::format("{} is another one here (hash {:016x}) than there ({:016x})", what, mine, theirs));
  };
  compare("the version of control messages", here.control, there.control);
  compare("the version of packets", here.wire, there.wire);
  const auto mine = lines_of(here.settings), theirs = lines_of(there.settings);
  auto keys = mine;
  keys.insert(theirs.begin(), theirs.end());
  for (const auto& [key, value] : keys)
    compare(key, value_of(mine, key), value_of(theirs, key));
  if (result.empty() && here.settings != there.settings)
    result.emplace_back("the settings are not written in the same way here and there");
  compare("the number of training samples", here.samples, there.samples);
  compare("the number of features", here.features, there.features);
  compare("the number of classes", here.classes, there.classes);
  compare("the dimension of the model", here.dimension, there.dimension);
  compare_content("the content of the data", here.data, there.data);
  compare_content("the initial model", here.initial, there.initial);
  return result;
}

} // namespace gossamer::actors
