// Costs of work: TOML to costs and back.
#include "gossamer/actors/simulation/work_costs.hpp"
#include "gossamer/base/file.hpp"
#include "gossamer/base/toml_depth.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <sstream>

namespace gossamer::actors {

namespace {

constexpr double most_ns = 1e9;
constexpr std::uint64_t longest_cost_file = std::uint64_t{1} << 20;

struct number_key {
  const char* name;
  double work_costs::*value;
  const char* meaning;
};
constexpr std::array number_keys{
    number_key{"arithmetic-byte", &work_costs::arithmetic_byte, "that arithmetic with vectors reads or writes"},
    number_key{"random-word", &work_costs::random_word, "that is drawn outside of codecs"},
    number_key{"frame", &work_costs::frame, "that is sent or received"},
    number_key{"frame-byte", &work_costs::frame_byte, "on the wire, at either end"},
};

struct table_key {
  const char* name;
  double work_costs::coding::*value;
  const char* meaning;
};
constexpr std::array table_keys{
    table_key{"encode-byte", &work_costs::coding::encode_byte, "of the floats that a codec packs"},
    table_key{"decode-byte", &work_costs::coding::decode_byte, "of the floats that it unpacks"},
};

std::string place_of(const std::string& file, const toml::node& node) {
  return fmt::format("{}:{}", file, node.source().begin.line);
}

double cost_of(const std::string& file, std::string_view key, const toml::node& node) {
  const auto ns = node.value<double>();
  if (!node.is_number() || !(*ns >= 0 && *ns <= most_ns))
    throw error(errc::usage, fmt::format("{}: {} is no cost", place_of(file, node), key),
                "allowed: nanoseconds, a number from 0 to 1e9");
  return *ns;
}

void read_table(const std::string& file, const table_key& key, const toml::node& node, work_costs& into) {
  const auto* table = node.as_table();
  if (!table)
    throw error(errc::usage, fmt::format("{}: {} is no table", place_of(file, node), key.name),
                fmt::format("write [{}], and below it lines such as uniform = 0.26", key.name));
  for (const auto& [name, cost] : *table) {
    const auto found = into.codecs.find(name.str());
    if (found == into.codecs.end()) {
      std::vector<std::string> names;
      for (const auto& [known, unused] : into.codecs)
        names.push_back(known);
      const auto problem = unknown_name("codec", name.str(), names);
      throw error(problem.code(), place_of(file, cost) + ": " + problem.sentence(), problem.remedy());
    }
    found->second.*key.value = cost_of(file, name.str(), cost);
  }
}

void read_key(const std::string& file, std::string_view name, const toml::node& node, work_costs& into) {
  for (const auto& key : number_keys)
    if (name == key.name) {
      into.*key.value = cost_of(file, name, node);
      return;
    }
  for (const auto& key : table_keys)
    if (name == key.name)
      return read_table(file, key, node, into);
  std::vector<std::string> names;
  names.reserve(std::size(number_keys) + std::size(table_keys));
  for (const auto& key : number_keys)
    names.emplace_back(key.name);
  for (const auto& key : table_keys)
    names.emplace_back(key.name);
  const auto problem = unknown_name("key", name, names);
  throw error(problem.code(), place_of(file, node) + ": " + problem.sentence(), problem.remedy());
}

std::string text_of(const std::string& file) {
  try {
    return read_text(file, {"costs", longest_cost_file, "a file of costs has a line for each of them"});
  } catch (const error& e) {
    throw error(e.code(), e.sentence(),
                e.code() == errc::io ? "--cost takes default, none, measured, or a file of costs" : e.remedy());
  }
}

} // namespace

work_costs read_costs(const std::string& file, const registry<compress::codec_entry>& known) {
  auto costs = default_costs();
  for (const auto& codec : known)
    costs.codecs.try_emplace(codec.about.name); // a program's own
  const auto text = text_of(file);
  expect_shallow_toml(text, file);
  try {
    for (const auto& [key, node] : toml::parse(text))
      read_key(file, key.str(), node, costs);
  } catch (const toml::parse_error& e) {
    throw error(errc::usage, fmt::format("{}:{}: {}", file, e.source().begin.line, e.description()));
  }
  return costs;
}

std::string to_toml(const work_costs& costs) {
  std::string text = "# What the work of a worker costs in virtual time, in nanoseconds.\n";
  for (const auto& key : number_keys)
    text += fmt::format("{} = {} # {}\n", key.name, costs.*key.value, key.meaning);
  for (const auto& key : table_keys) {
    text += fmt::format("\n[{}] # {}\n", key.name, key.meaning);
    for (const auto& [name, coding] : costs.codecs)
      text += fmt::format("{} = {}\n", name, coding.*key.value);
  }
  return text;
}

} // namespace gossamer::actors
