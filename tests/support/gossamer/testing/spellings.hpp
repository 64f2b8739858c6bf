#pragma once

#include "gossamer/actors/worker/algorithm.hpp"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gossamer::testing_support {

/// Numbers that change an algorithm's protocol, by their parameters. One brings others with it that it needs in short
/// runs.
inline constexpr std::pair<const char*, const char*> protocol_numbers[] = {
    {"local-steps", "3"}, {"in-flight", "3"}, {"owed", "2"},    {"warm-up", "5"},
    {"grace", "0.01"},    {"quorum", "4"},    {"overlap", "2"}, {"double-after", "3,warm-up=5,variance-updates=2"}};

/// True if the spec gives every parameter that has no default.
inline bool is_complete(const description& about, std::string_view text) {
  const auto given = spec::parse(text);
  return std::ranges::all_of(about.parameters, [&](const parameter& p) {
    return !p.required || std::ranges::any_of(given.values, [&](const auto& one) { return one.first == p.key; });
  });
}

/// Returns an algorithm by its defaults, with every choice that its parameters offer, and with another number where one
/// changes the protocol; of these the complete ones, where a parameter has no default.
inline std::vector<std::string> spellings_of(const actors::algorithm_entry& entry) {
  std::vector<std::string> specs{entry.about.name};
  for (const auto& p : entry.about.parameters) {
    for (const auto& choice : p.choices)
      if (choice != p.fallback)
        specs.push_back(entry.about.name + ":" + p.key + "=" + choice);
    for (const auto& [key, number] : protocol_numbers)
      if (key == p.key)
        specs.push_back(entry.about.name + ":" + key + "=" + number);
  }
  std::erase_if(specs, [&](const auto& text) { return !is_complete(entry.about, text); });
  return specs;
}

/// Returns those of all built-in algorithms.
inline std::vector<std::string> every_spelling() {
  std::vector<std::string> specs;
  for (const auto& entry : actors::algorithms())
    std::ranges::copy(spellings_of(entry), std::back_inserter(specs));
  return specs;
}

/// Returns the optimiser, or "auto" for an algorithm with one of its own.
inline std::string optimiser_for(const std::string& algorithm, const char* optimiser) {
  return actors::algorithms().resolve(algorithm).first.traits.own_optimiser ? "auto" : optimiser;
}

/// Returns a spec as a part of a test's name, in which GoogleTest wants letters, digits and '_' alone.
inline std::string as_test_name(std::string spec) {
  std::ranges::replace_if(
      spec, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return spec;
}

} // namespace gossamer::testing_support
