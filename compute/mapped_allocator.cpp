#include "gossamer/compute/mapped_allocator.hpp"

#include "gossamer/base/error.hpp"
#include "gossamer/base/file.hpp"
#include "gossamer/base/within_memory.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

namespace gossamer::compute::detail {

namespace {

std::string scratch_folder() {
  const char* named = std::getenv("TMPDIR");
  return named == nullptr || *named == '\0' ? "/var/tmp" : named;
}

/// A file without a name, open for reading and writing while the object lives.
class scratch_file {
public:
  explicit scratch_file(std::size_t bytes) : bytes_(bytes), file_(open_nameless(folder_)) {
    if (file_ < 0)
      refuse(errno);
  }
  scratch_file(const scratch_file&) = delete;
  scratch_file& operator=(const scratch_file&) = delete;
  ~scratch_file() {
    if (file_ >= 0)
      close(file_);
  }

  /// Reserves its bytes on the disk. Otherwise the first touch of a page for which there is no room would be a SIGBUS.
  void take_room() const {
    int problem = EINTR;
    while (problem == EINTR)
      problem = posix_fallocate(file_, 0, static_cast<off_t>(bytes_));
    if (problem != 0)
      refuse(problem);
  }

  /// Maps the file. The mapping outlives the object.
  void* mapped() const {
    void* first = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
    if (first == MAP_FAILED)
      refuse(errno);
    // The kernel counts files without a name as memory, and would write all of it into a core dump.
    madvise(first, bytes_, MADV_DONTDUMP);
    return first;
  }

private:
  static int open_nameless(const std::string& folder) {
    const int file = open(folder.c_str(), O_TMPFILE | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
    if (file >= 0)
      return file;
    auto path = folder + "/gossamer-XXXXXX"; // not all file systems have O_TMPFILE
    const int named = mkostemp(path.data(), O_CLOEXEC);
    if (named >= 0)
      unlink(path.c_str());
    return named;
  }

  [[noreturn]] void refuse(int reason) const {
    throw error(errc::io,
                fmt::format("cannot keep {} in a file in '{}': {}", byte_count(bytes_), folder_, std::strerror(reason)),
                "make room there, or let TMPDIR name a folder on a disk that has it");
  }

  std::size_t bytes_;
  std::string folder_ = scratch_folder();
  int file_;
};

} // namespace

std::uint64_t half_of_memory() noexcept {
  static const auto half = physical_memory() / 2; // measured once: it is a system call
  return half;
}

void* map_scratch_file(std::size_t bytes) {
  const scratch_file file{bytes};
  file.take_room();
  return file.mapped();
}

void unmap_scratch_file(void* first, std::size_t bytes) noexcept { munmap(first, bytes); }

void begin_reading(const void* first, std::size_t bytes) noexcept {
  static const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto before = reinterpret_cast<std::uintptr_t>(first) % page; // advice is taken from whole pages on
  madvise(const_cast<char*>(static_cast<const char*>(first)) - before, before + bytes, MADV_WILLNEED);
}

} // namespace gossamer::compute::detail
