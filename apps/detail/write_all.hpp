#pragma once

#include <string_view>

namespace gossamer::apps {

/// Writes a text to an open file, and waits while that takes no more. Failures are ignored: a run goes on when nobody
/// can see it. What `stdio` keeps for the same file is not written first.
void write_all(int file, std::string_view text) noexcept;

/// The same on standard error, but it does not wait for ever where nobody reads that.
void write_last_words(std::string_view text) noexcept;

/// Where it was closed, so that no file that is opened later takes its place, and the lines that are meant for it.
void open_standard_error() noexcept;

} // namespace gossamer::apps
