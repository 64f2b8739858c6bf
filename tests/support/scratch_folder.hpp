#pragma once

#include "gossamer/base/error.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace gossamer::test {

/// A new folder for test files, removed with the object.
class scratch_folder {
public:
  scratch_folder() {
    auto name = (std::filesystem::temp_directory_path() / "gossamer-XXXXXX").string();
    GOSSAMER_ASSERT(mkdtemp(name.data()) != nullptr, "a folder for temporary files can be made");
    path_ = name;
  }
  scratch_folder(const scratch_folder&) = delete;
  scratch_folder& operator=(const scratch_folder&) = delete;
  ~scratch_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::string& path() const { return path_; }
  /// Writes a file and returns its path.
  std::string write(std::string_view name, std::string_view bytes) const {
    const auto path = path_ + "/" + std::string{name};
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }

private:
  std::string path_;
};

} // namespace gossamer::test
