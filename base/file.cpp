#include "gossamer/base/file.hpp"

#include "gossamer/base/error.hpp"
#include "gossamer/base/within_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>
#include <utility>

namespace gossamer {

namespace {

bool has_end(const struct stat& about) { return S_ISREG(about.st_mode) || S_ISDIR(about.st_mode); }

/// True if this pipe is open already, as /dev/stdin and the pipes of a shell's <(...) are.
bool is_open(const std::string& pipe) {
  struct statfs where {};
  return statfs(pipe.c_str(), &where) == 0 && where.f_type == PIPEFS_MAGIC;
}

/// A file that is open for reading.
class source {
public:
  source(const std::string& path, const file_kind& kind) : path_(path), kind_(kind) {
    expect_no_waiting();
    file_ = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (file_ < 0)
      refuse(std::strerror(errno));
  }
  source(const source&) = delete;
  source& operator=(const source&) = delete;
  ~source() { close(file_); }

  /// Size that the system reports; 0 for a pipe.
  std::uint64_t expected_bytes() const {
    struct stat about {};
    if (fstat(file_, &about) != 0)
      refuse(std::strerror(errno));
    if (S_ISDIR(about.st_mode))
      refuse(std::strerror(EISDIR));
    return static_cast<std::uint64_t>(about.st_size);
  }

  /// @returns false at the end
  bool append_to(std::string& bytes) const {
    std::array<char, 1 << 16> part;
    const auto count = read(file_, part.data(), part.size());
    if (count < 0 && errno != EINTR)
      refuse(std::strerror(errno));
    if (count > 0)
      bytes.append(part.data(), static_cast<std::size_t>(count));
    return count != 0;
  }

private:
  /// Refuses a pipe with a name, because its opening waits for a writer, and a device, which may do anything.
  void expect_no_waiting() const {
    struct stat about {};
    if (stat(path_.c_str(), &about) != 0 || has_end(about))
      return; // a missing file is refused when it is opened
    if (!S_ISFIFO(about.st_mode))
      refuse("it is neither a regular file nor a pipe");
    if (!is_open(path_))
      refuse("it is a named pipe, and nobody may ever write into it");
  }

  [[noreturn]] void refuse(const char* reason) const {
    throw error(errc::io, fmt::format("cannot read {}{}'{}': {}", kind_.noun.empty() ? "" : "the ",
                                      kind_.noun + (kind_.noun.empty() ? "" : " "), path_, reason));
  }

  const std::string& path_;
  const file_kind& kind_;
  int file_ = -1;
};

} // namespace

void read_lines(const std::string& path, const file_kind& kind,
                const std::function<void(std::string_view line)>& visit) {
  const source file{path, kind};
  std::string rest;
  while (file.append_to(rest)) {
    std::string_view left = rest;
    for (auto end = left.find('\n'); end != std::string_view::npos; end = left.find('\n')) {
      visit(left.substr(0, end));
      left.remove_prefix(end + 1);
    }
    rest.erase(0, rest.size() - left.size());
    if (rest.size() > kind.most_bytes)
      throw error(errc::bad_data, fmt::format("'{}' has a line of more than {}", path, byte_count(kind.most_bytes)),
                  kind.remedy);
  }
}

std::string read_file(const std::string& path, const file_kind& kind) {
  const source file{path, kind};
  const auto expect_room = [&](std::uint64_t size) {
    if (size > kind.most_bytes)
      throw error(errc::bad_data, fmt::format("'{}' is larger than {}", path, byte_count(kind.most_bytes)),
                  kind.remedy);
  };
  const auto expected = file.expected_bytes();
  expect_room(expected);
  return within_memory(fmt::format("reading '{}'", path), "give it more memory, or a smaller file", [&] {
    std::string bytes;
    bytes.reserve(expected);
    while (file.append_to(bytes))
      expect_room(bytes.size());
    return bytes;
  });
}

bool file_exists(const std::string& path) {
  std::error_code problem;
  const bool result = std::filesystem::exists(path, problem);
  if (problem)
    throw error(errc::io, fmt::format("cannot read '{}': {}", path, problem.message()));
  return result;
}

void make_folder(const std::string& path, const std::string& remedy) {
  std::error_code problem;
  std::filesystem::create_directories(path, problem);
  if (problem)
    throw error(errc::io, fmt::format("cannot make {}: {}", path, problem.message()), remedy);
}

void write_text(const std::string& path, const std::string& text, const std::string& remedy) {
  std::FILE* out = std::fopen(path.c_str(), "we");
  const bool written = out != nullptr && std::fwrite(text.data(), 1, text.size(), out) == text.size();
  const int reason = errno;
  const bool closed = out != nullptr && std::fclose(out) == 0;
  if (!written || !closed)
    throw error(errc::io, fmt::format("cannot write {}: {}", path, std::strerror(written ? errno : reason)), remedy);
}

namespace {

/// A descriptor that closes itself.
struct open_file {
  open_file(const std::string& path, int flags) : number(open(path.c_str(), flags | O_CLOEXEC, 0644)) {}
  open_file(const open_file&) = delete;
  open_file& operator=(const open_file&) = delete;
  ~open_file() {
    if (number >= 0)
      close(number);
  }
  /// Some file systems say only here that there is no room.
  bool close_now() { return close(std::exchange(number, -1)) == 0; }
  bool write_all(std::span<const std::byte> bytes) const {
    while (!bytes.empty()) {
      const auto now = write(number, bytes.data(), bytes.size());
      if (now < 0 && errno != EINTR)
        return false;
      bytes = bytes.subspan(static_cast<std::size_t>(std::max<ssize_t>(now, 0)));
    }
    return true;
  }

  int number;
};

/// @returns whether all went well; otherwise errno says what did not
bool write_all(const std::string& path, std::span<const std::byte> bytes, bool flushed) {
  open_file out{path, O_WRONLY | O_CREAT | O_TRUNC};
  return out.number >= 0 && out.write_all(bytes) && (!flushed || fsync(out.number) == 0) && out.close_now();
}

} // namespace

int replace_by_renaming(const std::string& path, const std::string& beside, std::span<const std::byte> bytes,
                        bool flushed) noexcept {
  if (write_all(beside, bytes, flushed) && std::rename(beside.c_str(), path.c_str()) == 0)
    return 0;
  const int reason = errno;
  unlink(beside.c_str());
  return reason;
}

void replace_durably(const std::string& path, std::span<const std::byte> bytes, const std::string& remedy) {
  namespace fs = std::filesystem;
  std::error_code none;
  const auto there = fs::status(path, none);
  if (fs::exists(there) && !fs::is_regular_file(there)) // a file in its place would not be what was meant
    return write_text(path, {reinterpret_cast<const char*>(bytes.data()), bytes.size()}, remedy);
  const auto file = fs::exists(there) && fs::is_symlink(path, none) ? fs::canonical(path).string() : path;
  const auto beside = fmt::format("{}.part-{}", file, getpid()); // other processes may write the same file
  const auto slash = file.rfind('/');
  const auto folder = slash == std::string::npos ? std::string{"."} : file.substr(0, slash + 1);
  if (const int reason = replace_by_renaming(file, beside, bytes, true); reason != 0)
    throw error(errc::io, fmt::format("cannot write {}: {}", path, std::strerror(reason)), remedy);
  flush_folder(folder, remedy);
}

void flush_folder(const std::string& folder, const std::string& remedy) {
  const open_file names{folder, O_RDONLY | O_DIRECTORY};
  if (names.number < 0 || (fsync(names.number) != 0 && errno != EINVAL)) // some systems of files keep names safe anyway
    throw error(errc::io, fmt::format("cannot flush {} to the disk: {}", folder, std::strerror(errno)), remedy);
}

std::string_view without_byte_order_mark(std::string_view text) noexcept {
  constexpr std::string_view mark = "\xEF\xBB\xBF";
  return text.starts_with(mark) ? text.substr(mark.size()) : text;
}

std::string read_text(const std::string& path, const file_kind& kind) {
  auto text = read_file(path, kind);
  text.erase(0, text.size() - without_byte_order_mark(text).size());
  return text;
}

bool take_line(std::string_view& text, std::string_view& line) noexcept {
  if (text.empty())
    return false;
  const auto end = std::min(text.find('\n'), text.size());
  line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return true;
}

std::string byte_count(std::uint64_t bytes) {
  constexpr std::array units{"byte", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  auto count = static_cast<double>(bytes);
  for (; count >= 1024 && unit + 1 < units.size(); ++unit)
    count /= 1024;
  return fmt::format("{:.4g} {}{}", count, units[unit], unit == 0 && bytes != 1 ? "s" : "");
}

} // namespace gossamer
