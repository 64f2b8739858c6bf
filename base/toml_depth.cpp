#include "gossamer/base/toml_depth.hpp"

#include "gossamer/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gossamer {

namespace {

constexpr std::size_t deepest = 32;

/// Returns the length of the string literal that the text begins with. It ends behind its closing quotes; without any,
/// at the end of its line or of the text.
std::size_t string_size(std::string_view text) {
  const char quote = text.front();
  const std::string_view triple = quote == '"' ? "\"\"\"" : "\'\'\'";
  const bool long_string = text.starts_with(triple);
  for (std::size_t i = long_string ? 3 : 1; i < text.size(); ++i) {
    if (quote == '"' && text[i] == '\\')
      ++i;
    else if (!long_string && (text[i] == quote || text[i] == '\n'))
      return text[i] == quote ? i + 1 : i;
    else if (long_string && text.substr(i).starts_with(triple)) {
      i += 3;
      for (int own = 0; own < 2 && i < text.size() && text[i] == quote; ++own) // quotes before the closing ones
        ++i;
      return i;
    }
  }
  return text.size();
}

} // namespace

void expect_shallow_toml(std::string_view text, std::string_view file) {
  std::size_t line = 1, brackets = 0, dots = 0;
  while (!text.empty()) {
    std::size_t taken = 1;
    switch (text.front()) {
    case '"':
    case '\'':
      taken = string_size(text);
      line += static_cast<std::size_t>(std::ranges::count(text.substr(0, taken), '\n'));
      break;
    case '#':
      taken = std::min(text.find('\n'), text.size());
      break;
    case '[':
    case '{':
      ++brackets;
      break;
    case ']':
    case '}':
      brackets -= brackets > 0;
      break;
    case '.':
      ++dots;
      break;
    case '\n':
      ++line;
      dots = 0;
      break;
    case '=':
    case ',':
      dots = 0;
      break;
    default:
      break;
    }
    if (brackets + dots > deepest)
      throw error(errc::usage, fmt::format("{}:{}: keys or brackets are nested deeper than {}", file, line, deepest),
                  "settings and plans need three levels at most");
    text.remove_prefix(taken);
  }
}

} // namespace gossamer
