#pragma once

#include <cstdlib>
#include <filesystem>
#include <optional>

namespace gossamer {

/// Returns the folder of the real data sets: $GOSSAMER_DATA, or shared/data beside the source folder. Tests that need
/// them skip without it. Needs the compile definition GOSSAMER_SOURCE_DIR.
inline std::optional<std::filesystem::path> data_folder() {
  const char* given = std::getenv("GOSSAMER_DATA");
  const auto folder = given != nullptr ? std::filesystem::path(given)
                                       : std::filesystem::path(GOSSAMER_SOURCE_DIR) / ".." / "shared" / "data";
  std::error_code problem;
  if (!std::filesystem::is_directory(folder, problem))
    return std::nullopt;
  return std::filesystem::canonical(folder);
}

} // namespace gossamer

/// Ends the test, with the reason, if the real data are missing.
#define GOSSAMER_NEEDS_DATA(folder)                                                                                    \
  if (!(folder))                                                                                                       \
  GTEST_SKIP() << "needs the real data sets: set GOSSAMER_DATA to their folder"
