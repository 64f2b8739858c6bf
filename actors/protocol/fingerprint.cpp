#include "gossamer/actors/protocol/fingerprint.hpp"

#include "gossamer/base/settings_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <xxhash.h>

namespace gossamer::actors {

namespace {

std::uint64_t seed_of(std::size_t size, std::uint64_t before) {
  return XXH3_64bits_withSeed(&before, sizeof before, size);
}

template <class T, class Allocator>
std::uint64_t hash_of(const std::vector<T, Allocator>& values, std::uint64_t before) {
  return XXH3_64bits_withSeed(values.data(), values.size() * sizeof(T), seed_of(values.size(), before));
}

/// Hashes bytes and what they stand for: that takes a fifth of the time of hashing their values.
std::uint64_t hash_of(const compute::byte_features& features, std::uint64_t before) {
  static_assert(sizeof(compute::byte_scale) == 3 * sizeof(float)); // no bytes between
  const auto bytes = features.all;
  return hash_of(features.scales, XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed_of(bytes.size(), before)));
}

std::uint64_t hash_of(const compute::dataset& d, std::uint64_t before) {
  auto hash = d.bytes.empty() ? hash_of(d.dense, before) : hash_of(d.bytes, before);
  for (const auto* part : {&d.values, &d.targets})
    hash = hash_of(*part, hash);
  hash = hash_of(d.columns, hash_of(d.row_start, hash));
  for (const auto& name : d.class_names)
    hash = XXH3_64bits_withSeed(name.data(), name.size(), hash);
  return hash;
}

std::uint64_t hash_of(const topology::mixing_matrix& mixing) {
  std::uint64_t hash = mixing.size();
  for (rank i = 0; i < mixing.size(); ++i) {
    const auto neighbours = mixing.neighbours(i);
    const auto weights = mixing.weights(i);
    hash = XXH3_64bits_withSeed(neighbours.data(), neighbours.size_bytes(), hash);
    hash = XXH3_64bits_withSeed(weights.data(), weights.size_bytes(), hash);
  }
  return hash;
}

/// "codec halves = number 200, halves:keep=0.5", a line for each codec that is not built in.
std::string own_codecs(const registry<compress::codec_entry>& known) {
  const auto built_in = compress::codecs().names();
  std::string result;
  for (const auto& entry : known)
    if (std::ranges::find(built_in, entry.about.name) == built_in.end()) {
      spec defaults{entry.about.name, {}};
      for (const auto& p : entry.about.parameters)
        defaults.values.emplace_back(p.key, p.fallback);
      result += fmt::format("codec {} = number {}, {}\n", entry.about.name, entry.wire_number, defaults.to_string());
    }
  return result;
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
  result.codecs = own_codecs(e.known.codecs);
  result.graph = hash_of(*e.mixing);
  result.samples = e.data.train.samples;
  result.features = e.data.train.features;
  result.classes = e.data.train.classes;
  result.dimension = e.initial.size();
  result.data = hash_of(e.data.test, hash_of(e.data.train, 0));
  result.initial = XXH3_64bits(e.initial.data(), e.initial.storage().size());
  return result;
}

std::uint64_t digest_of(const fingerprint& f) {
  const std::uint64_t numbers[] = {f.control, f.wire,      f.graph, f.samples, f.features,
                                   f.classes, f.dimension, f.data,  f.initial};
  const auto texts = f.settings + f.codecs;
  return XXH3_64bits_withSeed(texts.data(), texts.size(), XXH3_64bits(numbers, sizeof numbers));
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
  const auto compare_lines = [&](const std::string& ours, const std::string& others) {
    const auto mine = lines_of(ours), theirs = lines_of(others);
    auto keys = mine;
    keys.insert(theirs.begin(), theirs.end());
    for (const auto& [key, value] : keys)
      compare(key, value_of(mine, key), value_of(theirs, key));
    if (result.empty() && ours != others)
      result.emplace_back("the settings are not written in the same way here and there");
  };
  compare_lines(here.settings, there.settings);
  compare_lines(here.codecs, there.codecs);
  compare_content("the graph of the workers", here.graph, there.graph);
  compare("the number of training samples", here.samples, there.samples);
  compare("the number of features", here.features, there.features);
  compare("the number of classes", here.classes, there.classes);
  compare("the dimension of the model", here.dimension, there.dimension);
  compare_content("the content of the data", here.data, there.data);
  compare_content("the initial model", here.initial, there.initial);
  return result;
}

} // namespace gossamer::actors
