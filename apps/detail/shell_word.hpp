#pragma once

#include <string>

namespace gossamer::apps {

/// A word as a POSIX shell reads it back: in quotes, where it needs them.
std::string shell_word(const std::string& word);

} // namespace gossamer::apps
