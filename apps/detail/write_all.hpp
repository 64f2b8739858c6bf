#pragma once

#include <string_view>

namespace gossamer::apps {

/// Writes a text to an open file, and waits while that takes no more. Failures are ignored: a run goes on when nobody
/// can see it. What `stdio` keeps for the same file is not written first.
void write_all(int file, std::string_view text) noexcept;

} // namespace gossamer::apps
