#pragma once

#include "gossamer/base/error.hpp"
#include "gossamer/compute/data/detail/file_bytes.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace gossamer::compute::detail {

/// Returns the text without blanks, tabs and carriage returns at both ends.
std::string_view trimmed(std::string_view text) noexcept;

/// Returns the number that the whole text spells, in the syntax of `std::from_chars` with an optional '+'. NaN and
/// infinities are numbers, too. A number too large for a double is infinite, and one too small is 0.
std::optional<double> to_number(std::string_view text) noexcept;

/// Returns the error "'path':12: what".
error bad_line(std::string_view path, std::size_t line, std::string_view what, std::string remedy = {});

/// Walks through the lines of a file and counts them. The file must outlive it.
class line_reader {
public:
  explicit line_reader(const file_bytes& file) noexcept;

  /// Goes to the next line that is not blank; false at the end.
  bool next() noexcept;
  std::string_view line() const noexcept { return line_; }
  std::size_t number() const noexcept { return number_; }

  /// @error errc::bad_data always, with the file and the line
  [[noreturn]] void fail(std::string_view what, std::string remedy = {}) const;
  /// @error errc::bad_data unless the text is a finite number; `subject` names it, e.g. "the label"; `remedy` is for a
  ///        text that is no number
  float finite(std::string_view subject, std::string_view text, std::string remedy = {}) const;

private:
  std::string_view path_;
  std::string_view rest_;
  std::string_view line_;
  std::size_t number_ = 0;
};

} // namespace gossamer::compute::detail
