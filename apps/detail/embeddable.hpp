#pragma once

#include <string>
#include <vector>

namespace gossamer::apps {

/// Refuses commands that start processes: a program around the command may have threads, of which a copy of the process
/// would have one. @error errc::usage
void require_embeddable(const std::vector<std::string>& words);

} // namespace gossamer::apps
