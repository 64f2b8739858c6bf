#include "gossamer/apps/detail/shell_word.hpp"

#include <string_view>

namespace gossamer::apps {

std::string shell_word(const std::string& word) {
  constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=:,./@%";
  if (!word.empty() && word.find_first_not_of(plain) == std::string::npos)
    return word;
  std::string result{'\''};
  for (const char c : word)
    if (c == '\'')
      result.append("'\\''");
    else
      result.push_back(c);
  result.push_back('\'');
  return result;
}

std::string shell_line(const std::vector<std::string>& words) {
  std::string line;
  for (const auto& word : words)
    line += (line.empty() ? "" : " ") + shell_word(word);
  return line;
}

} // namespace gossamer::apps
