#pragma once

#include "gossamer/apps/detail/launch_record.hpp"

#include <filesystem>
#include <string>

namespace gossamer::apps {

// The list of this user's detached runs: $XDG_STATE_HOME/gossamer, or ~/.local/state/gossamer, has a file for each of
// the last hundred, which names its folder.

/// Returns that folder. @param what, remedy as of `user_folder`
/// @error errc::usage when the environment does not say where it is
std::filesystem::path state_folder(const std::string& what = "the list of detached runs",
                                   const std::string& remedy = "set one of them, or name the run's folder");

/// @param process the launching process, as the name of the file @error errc::io
void remember_detached(const std::filesystem::path& folder, const std::string& process);

/// Returns the folder of the last detached run. @error errc::usage when there is none
std::filesystem::path latest_detached();

/// Returns lines about the commands that come back to a detached run, for people.
std::string ways_back_to(const std::filesystem::path& folder, const launch_record& r);

} // namespace gossamer::apps
