#include "gossamer/apps/detail/embeddable.hpp"

#include "gossamer/base/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace gossamer::apps {

void require_embeddable(const std::vector<std::string>& words) {
  constexpr std::array commands{"train", "simulate", "node", "list", "explain", "export", "plot", "report", "certs"};
  if (words.empty() || std::ranges::find(commands, words.front()) == commands.end())
    throw error(errc::usage, fmt::format("'{}' does not run inside a program", words.empty() ? "" : words.front()),
                fmt::format("allowed: {}; or the command gossamer by itself", fmt::join(commands, ", ")));
  for (const std::string_view flag : {"--seeds", "--explore", "--shrink", "--probe"})
    for (const auto& word : words)
      if (word == flag || word.starts_with(std::string{flag} + '='))
        throw error(errc::usage, fmt::format("{} starts processes, which does not work inside a program", flag),
                    "call it in a loop, with another seed or interleaving each time");
}

} // namespace gossamer::apps
