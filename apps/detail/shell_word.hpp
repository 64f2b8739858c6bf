#pragma once

#include <string>
#include <vector>

namespace gossamer::apps {

/// Returns a word as a POSIX shell reads it back: in quotes if it needs them.
std::string shell_word(const std::string& word);
/// Returns the words as a POSIX shell reads them back.
std::string shell_line(const std::vector<std::string>& words);

} // namespace gossamer::apps
