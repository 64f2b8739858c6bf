#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gossamer {

/// The text by which a user names a thing and sets its parameters: `name` or `name:key=value,key=value`.
/// Flags, configuration files, reports and tests all use this one spelling. A list is written `100+50`. A spec within a
/// spec is written with slashes, `cser:c1=grbs/ratio=8/blocks=64,period=4`, which no shell and no other value minds.
struct spec {
  std::string name;
  std::vector<std::pair<std::string, std::string>> values;

  /// @error errc::usage when the text is not of that form; says which part
  static spec parse(std::string_view text);
  std::string to_string() const;
};

/// Kind of a number with a unit. A text gives a time in seconds, or with us, ms, s, min or h behind the number; a rate
/// in bits per second, or with b/s, kb/s, Mb/s or Gb/s.
enum class quantity { time, rate };

/// One parameter in a registry entry's schema.
struct parameter {
  enum class type { integer, real, integers, text, path, choice, spec, time, rate };

  std::string key;
  type kind = type::real;
  std::string fallback;                                  ///< the default, as a user would write it
  std::string meaning = {};                              ///< one line, with the unit
  double min = -std::numeric_limits<double>::infinity(); ///< for numbers, inclusive
  double max = std::numeric_limits<double>::infinity();
  std::vector<std::string> choices = {};
  bool required = false; ///< there is no default; `fallback` is empty

  /// "integer in [1, 16]", "one of l2, max": for messages and `gossamer explain`.
  std::string range() const;
};

/// The description of a registry entry: the source of `gossamer list`, `gossamer explain` and the docs' tables.
struct description {
  std::string name;
  std::string summary = {};   ///< one line
  std::string maths = {};     ///< the defining formulas, plain text
  std::string reference = {}; ///< authors, title, year, algorithm number
  std::string cost = {};      ///< per step: messages, bits, arithmetic; memory
  std::vector<parameter> parameters = {};
};

/// The values of a spec, checked against a schema, with the defaults filled in.
class arguments {
public:
  /// @param what the kind of thing, for messages ("codec")
  /// @error errc::usage on an unknown, missing, malformed or out-of-range value; names the key, the value, what is
  ///        allowed, and the nearest known key
  arguments(std::string_view what, const description& about, const spec& given);

  std::int64_t integer(std::string_view key) const;
  double real(std::string_view key) const; ///< a time in seconds, a rate in bits per second
  float real32(std::string_view key) const { return static_cast<float>(real(key)); }
  const std::string& text(std::string_view key) const;
  /// Returns a parameter that is a spec, in the usual form.
  std::string nested(std::string_view key) const;
  std::vector<std::int64_t> integers(std::string_view key) const;
  bool is(std::string_view key, std::string_view choice) const { return text(key) == choice; }

  /// Returns the full spec, defaults included, as a run's configuration keeps it.
  spec resolved() const;

private:
  std::string name_;
  std::vector<std::pair<std::string, std::string>> values_;
};

/// Returns the known name that is nearest to a misspelt one; empty when none is near enough to be worth suggesting.
std::string nearest(std::string_view name, const std::vector<std::string>& known);

/// @param subject names the number in messages @error errc::usage unless the whole text is a number in the range
double parse_real(std::string_view subject, std::string_view text, double min, double max);
std::int64_t parse_integer(std::string_view subject, std::string_view text, std::int64_t min, std::int64_t max);
/// Returns seconds, or bits per second: "50ms" is 0.05, "20Mb/s" is 2e7. A number without a unit is taken as it is.
/// @error as `parse_real`; names the units that there are
double parse_quantity(quantity what, std::string_view subject, std::string_view text, double min, double max);
std::vector<std::string> split(std::string_view text, char separator);

} // namespace gossamer
