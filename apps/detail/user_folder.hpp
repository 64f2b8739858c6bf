#pragma once

#include <filesystem>
#include <string>

namespace gossamer::apps {

/// Returns the folder `gossamer` of this user, in the one that an environment variable of the XDG specification names,
/// else below the user's home. It need not exist.
/// @param what what is kept there, and @param remedy what else the user may say: for the message
/// @error errc::usage when neither the variable nor HOME says where
std::filesystem::path user_folder(const char* variable, const char* below_home, const std::string& what,
                                  const std::string& remedy);

} // namespace gossamer::apps
