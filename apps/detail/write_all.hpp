#pragma once

#include <string_view>

namespace gossamer::apps {

/// Writes a text to an open file, and waits while the file takes no more. Text that `stdio` keeps for the same file is
/// not written first.
/// @returns false if the system refuses, with the reason in `errno`. Terminals and pipes may be lost: a run goes on.
bool write_all(int file, std::string_view text) noexcept;

/// Writes to standard error as `write_all` does, but waits only for a limited time.
void write_last_words(std::string_view text) noexcept;

/// Opens a closed standard error on /dev/null, so that no file that is opened later gets its number and its lines.
void open_standard_error() noexcept;

} // namespace gossamer::apps
