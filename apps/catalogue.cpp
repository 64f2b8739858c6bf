// gossamer list and gossamer explain: the registries, for people and for programs.
#include "gossamer/actors/simulation/compute_cost.hpp"
#include "gossamer/actors/simulation/network.hpp"
#include "gossamer/apps/detail/commands.hpp"
#include "gossamer/base/error.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace gossamer::apps {

namespace {

struct item {
  description about;
  std::string suggests = {}; ///< settings of an algorithm when they are not given
  std::string faults = {};   ///< what happens when a worker of an algorithm is lost
  std::string limits = {};   ///< cases in which an algorithm does not find the minimum
};

struct section {
  std::string kind; ///< "codecs"
  std::string noun; ///< "codec"
  std::vector<item> items;
};

/// Returns the meaning of the traits for the workers that are left.
std::string fault_policy(const actors::algorithm_entry& a) {
  if (a.masters)
    return "nobody waits for a worker that is lost, and one that comes back asks for the model first; a master starts "
           "anew from the state that it saved before its last answer, workers ask it again, and nothing is applied "
           "twice; if its process died, from the model that a worker was told last";
  if (!a.traits.synchronous)
    return "nobody waits for a worker that is lost; between two that live both halves of an exchange are applied, or "
           "none; one that comes back starts from a neighbour's model";
  if (a.traits.on_loss == actors::interrupted_round::repeat)
    return "the survivors repeat the interrupted round from unchanged state; what the lost worker had not shared is "
           "lost; one that comes back, or is a round behind, gets the state of another";
  return "the interrupted round is finished without the lost worker, a step later all go over to the weights of the "
         "graph that remains; one that comes back gets the state of a neighbour";
}

std::string suggestion(const actors::algorithm_traits& t) {
  const auto source = t.default_lr ? ""
                      : t.lr_grows ? ", which the optimiser suggests, times up to the number of workers"
                                   : ", which the optimiser suggests";
  const auto optimiser = t.own_optimiser ? "its own optimiser" : fmt::format("--optimiser {}", t.default_optimiser);
  return fmt::format("--codec {}\n{}\n--lr {:g}{}", t.default_codec, optimiser,
                     t.default_lr.value_or(compute::suggested_lr(t.default_optimiser)), source);
}

std::string limits_of(const actors::algorithm_entry& a) {
  std::string lines;
  for (const auto& l : a.limits)
    lines +=
        fmt::format("{}{}: {}", lines.empty() ? "" : "\n",
                    l.with.empty() ? "does not find the minimum" : "does not find the minimum with " + l.with, l.why);
  return lines;
}

item item_of(const actors::algorithm_entry& entry) {
  return {entry.about, suggestion(entry.traits), fault_policy(entry), limits_of(entry)};
}

template <class Entry>
item item_of(const Entry& entry) {
  return {entry.about};
}

template <class Table>
section section_of(std::string kind, const Table& table) {
  section result{std::move(kind), std::string{table.what()}, {}};
  for (const auto& entry : table)
    result.items.push_back(item_of(entry));
  return result;
}

std::vector<section> sections(const program& p) {
  return {section_of("algorithms", p.known().algorithms),
          section_of("codecs", p.known().codecs),
          section_of("topologies", p.known().topologies),
          section_of("models", p.known().models),
          section_of("data", p.known().data),
          section_of("partitions", compute::partitions()),
          section_of("optimisers", p.known().optimisers),
          section_of("schedules", compute::schedules()),
          section_of("networks", actors::networks()),
          section_of("jitters", actors::compute_jitters())};
}

std::string value_of(const parameter& p) { return p.required ? "(required)" : p.fallback; }

nlohmann::ordered_json json_of(const item& one) {
  const auto& about = one.about;
  auto parameters = nlohmann::ordered_json::array();
  for (const auto& p : about.parameters)
    parameters.push_back({{"key", p.key},
                          {"default", p.fallback},
                          {"required", p.required},
                          {"range", p.range()},
                          {"meaning", p.meaning}});
  nlohmann::ordered_json result{{"name", about.name},           {"summary", about.summary}, {"maths", about.maths},
                                {"reference", about.reference}, {"cost", about.cost},       {"parameters", parameters}};
  if (!one.suggests.empty())
    result["defaults"] = one.suggests;
  if (!one.faults.empty())
    result["faults"] = one.faults;
  if (!one.limits.empty())
    result["limits"] = one.limits;
  return result;
}

void print_part(std::string_view title, const std::string& content) {
  if (content.empty())
    return;
  fmt::print("  {}\n", title);
  for (const auto& line : split(content, '\n'))
    fmt::print("    {}\n", line);
}

void print(std::string_view noun, const item& one) {
  const auto& about = one.about;
  fmt::print("{} ({})\n  {}\n", about.name, noun, about.summary);
  print_part("maths", about.maths);
  print_part("reference", about.reference);
  print_part("cost", about.cost);
  print_part("defaults", one.suggests);
  print_part("faults", one.faults);
  print_part("limits", one.limits);
  if (!about.parameters.empty())
    fmt::print("  parameters\n");
  for (const auto& p : about.parameters)
    fmt::print("    {}={}  {}: {}\n", p.key, value_of(p), p.meaning, p.range());
}

} // namespace

void list(const program& p, const std::string& kind, bool json) {
  const auto all = sections(p);
  std::vector<std::string> kinds;
  std::ranges::transform(all, std::back_inserter(kinds), &section::kind);
  const auto found = std::ranges::find(all, kind, &section::kind);
  if (found == all.end())
    throw unknown_name("list", kind, kinds);
  if (json) {
    auto entries = nlohmann::ordered_json::array();
    std::ranges::transform(found->items, std::back_inserter(entries), json_of);
    fmt::print("{}\n", entries.dump(2));
    return;
  }
  for (const auto& one : found->items) {
    const auto& about = one.about;
    std::string example = about.name;
    for (const auto& value : about.parameters)
      example +=
          fmt::format("{}{}={}", example == about.name ? ":" : ",", value.key, value.required ? "..." : value.fallback);
    fmt::print("{:<16} {}\n{:<16}   {}\n", about.name, about.summary, "", example);
  }
}

std::vector<kind_of_names> catalogue(const program& p) {
  std::vector<kind_of_names> result;
  for (const auto& [kind, noun, items] : sections(p)) {
    auto& names = result.emplace_back(kind_of_names{kind, noun, {}});
    std::ranges::transform(items, std::back_inserter(names.entries), &item::about);
  }
  return result;
}

void list_kinds(const program& p, bool json) {
  auto kinds = nlohmann::ordered_json::array();
  for (const auto& [kind, noun, entries] : catalogue(p)) {
    const auto setting = std::ranges::find(simulate_options(), noun, &option::name);
    const auto meaning = setting == simulate_options().end() ? std::string{} : setting->help;
    kinds.push_back({{"kind", kind}, {"entries", entries.size()}, {"flag", "--" + noun}, {"summary", meaning}});
    if (!json)
      fmt::print("{:<11} {:>3}  --{}: {}\n", kind, entries.size(), noun, meaning);
  }
  if (json)
    fmt::print("{}\n", kinds.dump(2));
}

void explain(const program& p, const std::string& name) {
  std::vector<std::string> names;
  bool found = false;
  for (const auto& [kind, noun, items] : sections(p))
    for (const auto& one : items) {
      names.push_back(one.about.name);
      if (one.about.name != name)
        continue;
      if (std::exchange(found, true))
        fmt::print("\n");
      print(noun, one);
    }
  if (!found)
    throw unknown_name("name", name, names);
}

} // namespace gossamer::apps
