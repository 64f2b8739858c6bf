#pragma once

#include "gossamer/base/error.hpp"
#include "gossamer/base/spec.hpp"

#include <initializer_list>
#include <string_view>

namespace gossamer {

/// A function that an entry must have.
struct needed_function {
  std::string_view name;
  bool is_there;
};

/// Checks what every entry of a table needs: a name that flags can carry, its functions, and for each parameter a name
/// of its own and a default that would be accepted if it were given.
/// @param what the kind of thing, for messages ("codec")
/// @error errc::usage; names the entry, and what is wrong
void check_entry(std::string_view what, const description& about, std::initializer_list<needed_function> functions);

/// "algorithm 'x' made nothing: its function `make` returned null"
error made_nothing(std::string_view what, std::string_view name, std::string_view function = "make");

} // namespace gossamer
