#pragma once

#include <filesystem>
#include <string>

namespace gossamer::actors {

/// Keeps other processes from writing a run into the same folder, on this machine and on others that share it. The lock
/// ends with this object, and with the process, however it ends. On a file system without locks it has no effect.
/// Format: run.lock, locked by flock(2), names the holder.
class folder_lock {
public:
  /// @param folder exists
  /// @error errc::usage if another process has it, with its name; errc::io if the system refuses
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
