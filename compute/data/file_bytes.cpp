#include "gossamer/compute/data/detail/file_bytes.hpp"

#include "gossamer/base/error.hpp"
#include "gossamer/base/file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>

#define ZLIB_CONST
#include <zlib.h>

namespace gossamer::compute::detail {

namespace {

using chunk = std::array<char, 1 << 16>;

constexpr std::string_view gzip_begins = "\x1f\x8b";
constexpr std::string_view limit_remedy = "limit=..., in GiB, in --data allows more";

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

/// The size of the last member of a gzip file, as its end tells, and not more than so many packed bytes can be.
std::uint64_t unpacked_size(std::string_view packed) {
  constexpr std::uint64_t most_for_a_byte = 1032; // deflate's best
  std::uint64_t size = 0;
  for (std::size_t i = 0; i < std::min<std::size_t>(packed.size(), 4); ++i)
    size = size << 8 | static_cast<std::uint8_t>(packed[packed.size() - 1 - i]);
  return std::min(size, packed.size() * most_for_a_byte);
}

/// Unpacks all members of a gzip file: `cat a.gz b.gz` is a gzip file, too.
std::string unpack(const std::string& path, std::string_view packed, std::uint64_t most_bytes) {
  inflater owner;
  auto& z = *owner;
  std::string bytes;
  bytes.reserve(std::min<std::uint64_t>(unpacked_size(packed), most_bytes));
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
    if (bytes.size() > most_bytes)
      throw error(errc::bad_data, fmt::format("'{}' is larger than {} when unpacked", path, byte_count(most_bytes)),
                  std::string{limit_remedy});
    const auto offset = fed - z.avail_in;
    if (status == Z_STREAM_END && packed.find_first_not_of('\0', offset) == std::string_view::npos)
      return bytes; // copies by blocks, as of tapes, end with zeros
    if (status == Z_STREAM_END && !gzip_begins.starts_with(packed.substr(offset, gzip_begins.size())))
      throw error(
          errc::bad_data,
          fmt::format("'{}', byte {}: what follows the gzip data is neither more of it nor zeros", path, offset),
          "fetch the file again, or cut off what follows");
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

file_bytes file_bytes::read(std::string path, std::uint64_t most_bytes) {
  file_bytes file;
  file.path_ = std::move(path);
  file.bytes_ = read_file(file.path_, {.noun = {}, .most_bytes = most_bytes, .remedy = std::string{limit_remedy}});
  file.unpacked_ = file.bytes_.starts_with(gzip_begins);
  if (file.unpacked_)
    file.bytes_ = unpack(file.path_, file.bytes_, most_bytes);
  return file;
}

namespace {

/// True if the file does not exist. A file that cannot be examined counts as present: a read says why.
bool is_absent(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::status(path, ignored).type() == std::filesystem::file_type::not_found;
}

} // namespace

std::string file_bytes::find(const std::string& folder, std::string_view name) {
  const auto plain = (std::filesystem::path(folder) / name).string();
  return is_absent(plain) && !is_absent(plain + ".gz") ? plain + ".gz" : plain;
}

file_bytes file_bytes::read_found(std::string path, std::uint64_t most_bytes, std::string_view remedy) {
  if (is_absent(path))
    throw error(errc::io,
                fmt::format("cannot read '{}' or '{}.gz': {}", path, std::filesystem::path(path).filename().string(),
                            std::strerror(ENOENT)),
                std::string{remedy});
  return read(std::move(path), most_bytes);
}

byte_features features_in(std::shared_ptr<const file_bytes> file, std::size_t first, std::size_t count) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(file->text().data());
  return {.all = {bytes + first, count}, .owner = std::move(file)};
}

parameter file_limit_parameter() {
  return {.key = "limit",
          .kind = parameter::type::real,
          .fallback = "4",
          .meaning = "the largest file that is read, in GiB, also when unpacked",
          .min = 1e-9,
          .max = 1e6};
}

std::uint64_t file_limit(const arguments& given) {
  constexpr double gib = std::uint64_t{1} << 30;
  return static_cast<std::uint64_t>(given.real("limit") * gib);
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
