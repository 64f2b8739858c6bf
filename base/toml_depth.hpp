#pragma once

#include <string_view>

namespace gossamer {

/// Refuses a TOML text whose arrays, tables and dotted keys are nested deeper than any configuration needs. Parsers of
/// TOML call themselves for each level, and end the process when the stack overflows, so this check comes before the
/// parser. A text that is no TOML passes unless it is deep. One walk over the text; no memory.
/// @error errc::usage with file:line
void expect_shallow_toml(std::string_view text, std::string_view file);

} // namespace gossamer
