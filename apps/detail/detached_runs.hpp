#pragma once

#include <filesystem>
#include <string>

namespace gossamer::apps {

// Where detached runs of this user are: $XDG_STATE_HOME/gossamer, or ~/.local/state/gossamer, has a file for each of
// the last hundred, which names its folder.

/// Where that is. @error errc::usage when nothing says it
std::filesystem::path state_folder();

/// @param process that launches it, as the name of the file @error errc::io
void remember_detached(const std::filesystem::path& folder, const std::string& process);

/// The folder of the last one. @error errc::usage when there is none
std::filesystem::path latest_detached();

} // namespace gossamer::apps
