#include "gossamer/compute/data/detail/file_bytes.hpp"

#include "gossamer/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

#define ZLIB_CONST
#include <zlib.h>

namespace gossamer::compute::detail {

namespace {

using chunk = std::array<char, 1 << 16>;

error io_error(std::string_view path, int number) {
  return {errc::io, fmt::format("cannot read {}: {}", path, std::strerror(number))};
}

std::string read_all(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file{std::fopen(path.c_str(), "rb"), &std::fclose};
  if (!file)
    throw io_error(path, errno);
  std::string bytes;
  chunk part;
  while (const auto count = std::fread(part.data(), 1, part.size(), file.get()))
    bytes.append(part.data(), count);
  if (std::ferror(file.get()) != 0)
    throw io_error(path, errno);
  return bytes;
}

/// zlib's state for unpacking gzip.
class inflater {
public:
  inflater() {
    constexpr int gzip_window = 16 + MAX_WBITS;
    GOSSAMER_ASSERT(inflateInit2(&state_, gzip_window) == Z_OK, "zlib can be initialised");
  }
  inflater(const inflater&) = delete;
  inflater& operator=(const inflater&) = delete;
  ~inflater() { inflateEnd(&state_); }
  z_stream& operator*() noexcept { return state_; }

private:
  z_stream state_{};
};

/// Unpacks all members of a gzip file: `cat a.gz b.gz` is one, too.
std::string unpack(const std::string& path, std::string_view packed) {
  inflater owner;
  auto& z = *owner;
  std::string bytes;
  chunk part;
  for (std::size_t fed = 0;;) {
    if (z.avail_in == 0) { // zlib counts its input in 32 bits
      z.next_in = reinterpret_cast<const Bytef*>(packed.data() + fed);
      z.avail_in = static_cast<uInt>(std::min<std::size_t>(packed.size() - fed, 1u << 30));
      fed += z.avail_in;
    }
    z.next_out = reinterpret_cast<Bytef*>(part.data());
    z.avail_out = static_cast<uInt>(part.size());
    const int status = inflate(&z, Z_NO_FLUSH);
    bytes.append(part.data(), part.size() - z.avail_out);
    const auto offset = fed - z.avail_in;
    if (status == Z_STREAM_END && offset == packed.size())
      return bytes;
    if (status == Z_STREAM_END)
      inflateReset(&z);
    else if (status == Z_BUF_ERROR)
      throw error(errc::bad_data, fmt::format("'{}' is truncated: its gzip stream goes on after byte {}", path, offset),
                  "fetch the file again");
    else if (status != Z_OK)
      throw error(
          errc::bad_data,
          fmt::format("'{}', byte {}: corrupt gzip data ({})", path, offset, z.msg != nullptr ? z.msg : "no details"),
          "fetch the file again");
  }
}

} // namespace

file_bytes file_bytes::read(std::string path) {
  file_bytes file;
  file.path_ = std::move(path);
  file.bytes_ = read_all(file.path_);
  file.unpacked_ = file.bytes_.starts_with("\x1f\x8b");
  if (file.unpacked_)
    file.bytes_ = unpack(file.path_, file.bytes_);
  return file;
}

file_bytes file_bytes::read(const std::string& folder, std::string_view name, std::string_view remedy) {
  const auto plain = std::filesystem::path(folder) / name;
  for (const auto& path : {plain.string(), plain.string() + ".gz"})
    if (std::error_code ignored; std::filesystem::exists(path, ignored))
      return read(path);
  throw error(errc::io, fmt::format("cannot read '{}' or '{}.gz': {}", plain.string(), name, std::strerror(ENOENT)),
              std::string{remedy});
}

std::uint32_t file_bytes::big_endian(std::size_t offset) const noexcept {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i)
    value = value << 8 | (*this)[offset + i];
  return value;
}

void file_bytes::fail(std::size_t offset, std::string_view what) const {
  throw error(errc::bad_data,
              fmt::format("'{}', byte {}{}: {}", path_, offset, unpacked_ ? " when unpacked" : "", what));
}

std::vector<std::string> file_names(const std::string& folder) {
  std::error_code problem;
  std::vector<std::string> names;
  const std::filesystem::directory_iterator end;
  for (std::filesystem::directory_iterator at(folder, problem); !problem && at != end; at.increment(problem))
    names.push_back(at->path().filename().string());
  if (problem)
    throw error(errc::io, fmt::format("cannot read {}: {}", folder, problem.message()));
  std::ranges::sort(names);
  return names;
}

} // namespace gossamer::compute::detail
