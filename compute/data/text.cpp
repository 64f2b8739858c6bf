#include "gossamer/compute/data/detail/text.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

namespace gossamer::compute::detail {

std::string_view trimmed(std::string_view text) noexcept {
  constexpr std::string_view blank = " \t\r";
  const auto begin = text.find_first_not_of(blank);
  if (begin == std::string_view::npos)
    return {};
  return text.substr(begin, text.find_last_not_of(blank) - begin + 1);
}

std::optional<double> to_number(std::string_view text) noexcept {
  if (text.size() > 1 && text[0] == '+' && text[1] != '-')
    text.remove_prefix(1);
  double value = 0;
  const auto end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data(), end, value);
  if (stop != end || problem == std::errc::invalid_argument)
    return std::nullopt;
  // Beyond the doubles: no data set means a number that only it can tell from infinity.
  return problem == std::errc{} ? value : HUGE_VAL;
}

error bad_line(std::string_view path, std::size_t line, std::string_view what, std::string remedy) {
  return {errc::bad_data, fmt::format("{}:{}: {}", path, line, what), std::move(remedy)};
}

line_reader::line_reader(const file_bytes& file) noexcept : path_(file.path()), rest_(file.text()) {
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  if (rest_.starts_with(byte_order_mark))
    rest_.remove_prefix(byte_order_mark.size());
}

bool line_reader::next() noexcept {
  while (!rest_.empty()) {
    const auto end = rest_.find('\n');
    line_ = trimmed(rest_.substr(0, end));
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
    ++number_;
    if (!line_.empty())
      return true;
  }
  return false;
}

void line_reader::fail(std::string_view what, std::string remedy) const {
  throw bad_line(path_, number_, what, std::move(remedy));
}

float line_reader::finite(std::string_view subject, std::string_view text) const {
  const auto value = to_number(text);
  if (!value)
    fail(fmt::format("{} is '{}', which is not a number", subject, text));
  const auto result = static_cast<float>(*value);
  if (!std::isfinite(result))
    fail(fmt::format("{} is {}, which is not a finite 32-bit number", subject, text));
  return result;
}

} // namespace gossamer::compute::detail
