#include "gossamer/compute/data/detail/text.hpp"

#include "gossamer/base/file.hpp"

#include <fmt/format.h>

#include <algorithm>
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

namespace {

/// True if a decimal number that no double can hold is too small rather than too large: by the decimal place of its
/// first digit that is not 0.
bool underflows(std::string_view text) {
  const auto e = text.find_first_of("eE");
  const auto mantissa = text.substr(0, e);
  const auto first = mantissa.find_first_of("123456789");
  const auto point = std::min(mantissa.find('.'), mantissa.size());
  const auto place = static_cast<double>(point) - static_cast<double>(first) - (first < point ? 1 : 0);
  double exponent = 0;
  for (const char digit : e == std::string_view::npos ? std::string_view{} : text.substr(e + 1))
    if (digit >= '0' && digit <= '9')
      exponent = 10 * exponent + (digit - '0');
  const bool negative = e != std::string_view::npos && text.substr(e + 1).starts_with('-');
  return place + (negative ? -exponent : exponent) < 0;
}

} // namespace

std::optional<double> to_number(std::string_view text) noexcept {
  if (text.size() > 1 && text[0] == '+' && text[1] != '-')
    text.remove_prefix(1);
  double value = 0;
  const auto end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data(), end, value);
  if (stop != end || problem == std::errc::invalid_argument)
    return std::nullopt;
  if (problem == std::errc{})
    return value;
  // A number beyond the doubles becomes infinity or 0: no data set needs the difference.
  return underflows(text) ? 0 : HUGE_VAL;
}

error bad_line(std::string_view path, std::size_t line, std::string_view what, std::string remedy) {
  return {errc::bad_data, fmt::format("{}:{}: {}", path, line, what), std::move(remedy)};
}

line_reader::line_reader(const file_bytes& file) noexcept
    : path_(file.path()), rest_(without_byte_order_mark(file.text())) {}

bool line_reader::next() noexcept {
  while (take_line(rest_, line_)) {
    ++number_;
    if (!trimmed(line_).empty())
      return true;
  }
  return false;
}

void line_reader::fail(std::string_view what, std::string remedy) const {
  throw bad_line(path_, number_, what, std::move(remedy));
}

float line_reader::finite(std::string_view subject, std::string_view text, std::string remedy) const {
  const auto value = to_number(text);
  if (!value)
    fail(fmt::format("{} is '{}', which is not a number", subject, text), std::move(remedy));
  const auto result = static_cast<float>(*value);
  if (!std::isfinite(result))
    fail(fmt::format("{} is {}, which is not a finite 32-bit number", subject, text));
  return result;
}

} // namespace gossamer::compute::detail
