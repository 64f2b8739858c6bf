#pragma once

#include <filesystem>
#include <string>

namespace gossamer::actors {

/// Keeps other processes from writing a run into the same folder, on this machine and on others that share it. It is
/// let go when it is destroyed, and when the process ends, however it ends. Where a file system knows no locks, nobody
/// is kept away.
/// Format: run.lock, locked by flock(2), says who has it.
class folder_lock {
public:
  /// @param folder is there
  /// @error errc::usage when another one has it, with who that is; errc::io when the system refuses
  explicit folder_lock(const std::filesystem::path& folder);
  folder_lock(const folder_lock&) = delete;
  folder_lock& operator=(const folder_lock&) = delete;
  ~folder_lock();

private:
  bool is_in_place() const;
  std::string holder() const;
  void sign() const;

  std::filesystem::path path_;
  int file_ = -1;
};

} // namespace gossamer::actors
