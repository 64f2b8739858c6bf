// The values that completions offer, from the registries and from the names of values.
#include "gossamer/apps/detail/commands.hpp"
#include "gossamer/apps/detail/manual.hpp"
#include "gossamer/apps/reproductions/detail/reproduction.hpp"
#include "gossamer/base/spec.hpp"

#include <algorithm>
#include <cctype>

namespace gossamer::apps {

namespace {

void add(offers& to, const kind_of_names& some) {
  for (const auto& about : some.entries) {
    if (std::ranges::find(to.words, about.name) == to.words.end())
      to.words.push_back(about.name);
    for (const auto& p : about.parameters)
      to.parts.push_back(fmt::format("{}:{}=", about.name, p.key));
  }
}

/// Returns what a word without a flag may be, where a catalogue says so.
offers words_of(const program& p, const std::string& command, const std::string& word) {
  offers result;
  if (command == "list" && word == "kind")
    for (const auto& some : catalogue(p))
      result.words.push_back(some.kind);
  if (command == "explain" && word == "name") {
    for (const auto& some : catalogue(p))
      add(result, some);
    result.parts.clear();
  }
  if (command == "reproduce" && word == "names")
    for (const auto& entry : reproductions())
      result.words.emplace_back(entry.name);
  if (command == "completion" && word == "shell")
    result.words = {"bash", "zsh"};
  return result;
}

bool is_in_capitals(const std::string& text) {
  return std::ranges::any_of(text, [](unsigned char c) { return std::isupper(c); });
}

} // namespace

offers offers_for(const program& p, const std::string& command, const flag_text& flag) {
  auto result = words_of(p, command, flag.word);
  if (!flag.names.empty() && !flag.value.empty())
    for (const auto& some : catalogue(p))
      if (flag.names.back() == "--" + some.noun)
        add(result, some);
  const bool named = !result.words.empty();
  if (named && !flag.standard.empty() && flag.standard.find(':') == std::string::npos
      && std::ranges::find(result.words, flag.standard) == result.words.end())
    result.words.push_back(flag.standard); // "auto"
  for (const auto& part : split(flag.value, '|')) {
    if (!is_in_capitals(part) && !part.empty())
      result.words.push_back(part);
    result.files |= part == "FILE" || part == "HOSTS";
    result.folders |= part == "DIR" || part == "RUN";
  }
  return result;
}

} // namespace gossamer::apps
