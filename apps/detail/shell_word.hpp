#pragma once

#include <string>

namespace gossamer::apps {

/// Returns a word as a POSIX shell reads it back: in quotes if it needs them.
std::string shell_word(const std::string& word);

} // namespace gossamer::apps
