#pragma once

#include <string_view>

namespace gossamer {

/// Refuses a TOML text whose arrays, tables and dotted keys are nested deeper than any configuration needs: parsers of
/// TOML call themselves for each level, and end the process when the stack does. To be called before the text is
/// parsed; what is no TOML passes, as far as it is not deep. One walk over the text; no memory.
/// @error errc::usage with file:line
void expect_shallow_toml(std::string_view text, std::string_view file);

} // namespace gossamer
