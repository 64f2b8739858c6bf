#include "gossamer/actors/fetch/cache.hpp"

#include "gossamer/base/error.hpp"
#include "gossamer/base/file.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace gossamer::actors {

namespace fs = std::filesystem;

namespace {

constexpr auto remedy = "make room there, or say where fetched data is kept: --data-cache DIR";
constexpr std::uint64_t bytes_a_step = 64 * piece_bytes;

[[noreturn]] void fail(std::string_view what, const fs::path& where, const std::string& why) {
  throw error(errc::io, fmt::format("cannot {} {} in the cache of data: {}", what, where.string(), why), remedy);
}
[[noreturn]] void fail(std::string_view what, const fs::path& where) { fail(what, where, std::strerror(errno)); }

off_t place(std::uint64_t offset) { return static_cast<off_t>(offset); }

/// True if the open file still has that name.
bool is_there(int file, const fs::path& path) {
  struct stat open {
  }, named{};
  return fstat(file, &open) == 0 && stat(path.c_str(), &named) == 0 && open.st_ino == named.st_ino
         && open.st_dev == named.st_dev;
}

} // namespace

file_check::file_check(const fs::path& file) : in_(file, std::ios::binary) {}

std::optional<digest> file_check::step() {
  std::string bytes(bytes_a_step, '\0');
  in_.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  all_.add(std::string_view{bytes}.substr(0, static_cast<std::size_t>(in_.gcount())));
  return in_ ? std::nullopt : std::optional{all_.finish()};
}

partial_file::partial_file(int file, fs::path path, fs::path final_path)
    : file_(file), path_(std::move(path)), final_path_(std::move(final_path)) {}

partial_file::~partial_file() { close(file_); }

std::uint64_t partial_file::bytes() const {
  struct stat about {};
  return fstat(file_, &about) == 0 ? static_cast<std::uint64_t>(about.st_size) : 0;
}

std::string partial_file::read(std::uint64_t offset, std::uint64_t bytes) const {
  std::string result(bytes, '\0');
  std::size_t there = 0;
  while (there < result.size()) {
    const auto now = pread(file_, result.data() + there, result.size() - there, place(offset + there));
    if (now == 0 || (now < 0 && errno != EINTR))
      break;
    there += static_cast<std::size_t>(std::max<ssize_t>(now, 0));
  }
  result.resize(there);
  return result;
}

void partial_file::write(std::uint64_t offset, std::string_view bytes) const {
  while (!bytes.empty()) {
    const auto now = pwrite(file_, bytes.data(), bytes.size(), place(offset));
    if (now < 0 && errno != EINTR)
      fail("write", path_);
    const auto written = static_cast<std::size_t>(std::max<ssize_t>(now, 0));
    bytes.remove_prefix(written);
    offset += written;
  }
}

void partial_file::resize(std::uint64_t bytes) const {
  if (ftruncate(file_, place(bytes)) != 0)
    fail("cut", path_);
}

void partial_file::keep() const {
  if (fsync(file_) != 0)
    fail("flush", path_);
  if (std::rename(path_.c_str(), final_path_.c_str()) != 0)
    fail("rename", path_);
  flush_folder(final_path_.parent_path().string(), remedy);
}

data_cache::data_cache(fs::path folder) : folder_(std::move(folder)) {
  std::error_code problem;
  fs::create_directories(folder_, problem);
  if (problem || access(folder_.c_str(), W_OK | X_OK) != 0)
    throw error(errc::io,
                fmt::format("cannot keep fetched data in {}: {}", folder_.string(),
                            problem ? problem.message() : std::strerror(errno)),
                "choose a folder that can be written to: --data-cache DIR");
}

bool data_cache::has(const digest& whole) const {
  std::error_code ignored;
  return fs::is_regular_file(path_of(whole), ignored);
}

void data_cache::remove(const digest& whole) const {
  std::error_code problem;
  fs::remove(path_of(whole), problem);
  if (problem)
    fail("remove", path_of(whole), problem.message());
}

std::unique_ptr<partial_file> data_cache::open_partial(const digest& whole) const {
  auto path = path_of(whole);
  path += ".part";
  while (true) {
    const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file < 0)
      fail("open", path);
    auto result = std::make_unique<partial_file>(file, path, path_of(whole));
    if (flock(file, LOCK_EX | LOCK_NB) != 0) {
      if (errno == EWOULDBLOCK)
        return nullptr;
      fail("lock", path);
    }
    if (is_there(file, path)) // otherwise another process has completed and renamed it meanwhile
      return result;
  }
}

void data_cache::require_room(std::uint64_t bytes) const {
  std::error_code unknown;
  const auto room = fs::space(folder_, unknown).available;
  if (!unknown && room < bytes)
    throw error(errc::io,
                fmt::format("{} has room for {}, and what is to be fetched has {}", folder_.string(), byte_count(room),
                            byte_count(bytes)),
                remedy);
}

} // namespace gossamer::actors
