#pragma once

#include <cstddef>
#include <optional>

namespace gossamer::apps {

// What the terminal, and the person before it, want.

/// Returns the columns of a terminal: $COLUMNS, or what the system says; nothing if the file is no terminal and the
/// variable is not set.
std::optional<std::size_t> columns_of(int file);

/// Returns the rows of a terminal in the same way, by $LINES.
std::optional<std::size_t> rows_of(int file);

/// Returns the width of text that is wrapped for standard output or standard error: that of the terminal, between 40
/// and 120; elsewhere 80.
std::size_t text_width(int file);

/// True if a line on this file can be written over: it is a terminal, and one that moves its cursor ($TERM is not
/// dumb).
bool can_rewrite(int file);

/// True if the person's locale has all characters: $LC_ALL, $LC_CTYPE or else $LANG names UTF-8.
bool shows_unicode();

/// True if text on this file may be coloured: `can_rewrite`, and $NO_COLOR is not set, or empty.
bool may_colour(int file);

} // namespace gossamer::apps
