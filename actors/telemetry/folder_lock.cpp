#include "gossamer/actors/telemetry/folder_lock.hpp"

#include "gossamer/base/error.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace gossamer::actors {

folder_lock::folder_lock(const std::filesystem::path& folder) : path_(folder / "run.lock") {
  constexpr int everybody_reads = 0644;
  do {
    if (file_ >= 0) // the file's owner has released and removed it in between
      close(file_);
    file_ = open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, everybody_reads);
    if (file_ < 0)
      throw error(errc::io, fmt::format("cannot write {}: {}", path_.string(), std::strerror(errno)),
                  "check the path and the room there, or choose another folder with --out");
    if (flock(file_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
      const auto who = holder();
      close(file_);
      throw error(errc::usage, fmt::format("{} writes a run into {}", who, folder.string()),
                  "wait until it has ended, or choose another folder with --out");
    }
  } while (!is_in_place());
  sign();
}

folder_lock::~folder_lock() {
  if (is_in_place()) // otherwise another folder has this name by now
    unlink(path_.c_str());
  close(file_);
}

bool folder_lock::is_in_place() const {
  struct stat ours {
  }, there{};
  return fstat(file_, &ours) == 0 && stat(path_.c_str(), &there) == 0 && ours.st_dev == there.st_dev
         && ours.st_ino == there.st_ino;
}

std::string folder_lock::holder() const {
  std::array<char, 300> text{};
  const auto length = pread(file_, text.data(), text.size() - 1, 0);
  return length > 0 ? text.data() : "another process";
}

/// Writes the holder's name into the lock. Without room for it the name is missing, and the lock holds all the same.
void folder_lock::sign() const {
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  const auto text = fmt::format("process {} on {}", getpid(), host.data());
  [[maybe_unused]] const bool said =
      ftruncate(file_, 0) == 0 && pwrite(file_, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size());
}

} // namespace gossamer::actors
